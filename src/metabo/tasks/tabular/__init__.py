"""Tables of past results as families of tasks."""

from metabo.tasks.tabular.build import SHIPPED, read_table, table_family, tabular
from metabo.tasks.tabular.family import TabularFamily
from metabo.tasks.tabular.split import Split, k_fold
from metabo.tasks.tabular.table import Table
from metabo.tasks.tabular.tasks import TabularTasks, varied

__all__ = [
    "SHIPPED",
    "Split",
    "Table",
    "TabularFamily",
    "TabularTasks",
    "k_fold",
    "read_table",
    "table_family",
    "tabular",
    "varied",
]
