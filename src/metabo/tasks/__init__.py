"""Tasks to optimize and the families they are drawn from."""

from metabo.tasks.base import MeasuredFamily, Summary, TaskFamily, Tasks, TasksWithPrior
from metabo.tasks.family import ParametricFamily
from metabo.tasks.function import function_family
from metabo.tasks.parameters import ParameterBox, TaskParameter
from metabo.tasks.provenance import Fingerprint, Provenance
from metabo.tasks.registry import FAMILIES, Registry, family, named, register, registered

__all__ = [
    "FAMILIES",
    "Fingerprint",
    "MeasuredFamily",
    "ParameterBox",
    "ParametricFamily",
    "Provenance",
    "Registry",
    "Summary",
    "TaskFamily",
    "TaskParameter",
    "Tasks",
    "TasksWithPrior",
    "family",
    "function_family",
    "named",
    "register",
    "registered",
]
