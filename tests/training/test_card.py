import torch

from metabo.policies import MAX_LISTED
from metabo.space import Float, Space
from metabo.tasks.tabular import Table, table_family
from metabo.training.card import _measured


def test_a_card_has_the_tables_configurations_unless_there_are_too_many():
    for n, is_kept in ((20, True), (MAX_LISTED, True), (MAX_LISTED + 1, False)):
        rows = tuple((i / (n - 1),) for i in range(n))
        values = torch.rand(2, n, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        family = table_family("t", Table(Space({"x": Float(0, 1)}), ("a", "b"), rows, values))
        kept = _measured(family.provenance).get("configurations")
        assert kept == ([list(row) for row in rows] if is_kept else None)
