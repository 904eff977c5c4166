"""Experiments: methods by name, runs that write files, and pictures of them."""

from metabo.experiments.evaluate import Evaluation, MethodResult, evaluate
from metabo.experiments.explain import Explanation, explain
from metabo.experiments.explain_run import explain_run
from metabo.experiments.methods import METHODS, method
from metabo.experiments.setting import Setting

__all__ = [
    "METHODS",
    "Evaluation",
    "Explanation",
    "MethodResult",
    "Setting",
    "evaluate",
    "explain",
    "explain_run",
    "method",
]
