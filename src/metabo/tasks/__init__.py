"""Tasks to optimize and the families they are drawn from."""

from metabo.tasks.base import HasSpace, TaskFamily, Tasks, TasksWithPrior, space_of
from metabo.tasks.family import ParametricFamily
from metabo.tasks.function import function_family
from metabo.tasks.parameters import ParameterBox, TaskParameter
from metabo.tasks.registry import FAMILIES, family, register

__all__ = [
    "FAMILIES",
    "HasSpace",
    "ParameterBox",
    "ParametricFamily",
    "TaskFamily",
    "TaskParameter",
    "Tasks",
    "TasksWithPrior",
    "family",
    "function_family",
    "register",
    "space_of",
]
