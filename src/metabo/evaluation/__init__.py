"""Compare methods: by name, on the tasks of a family, on data sets never seen."""

from metabo.evaluation.evaluate import Evaluation, MethodResult, evaluate
from metabo.evaluation.methods import METHODS, method
from metabo.evaluation.setting import Setting

__all__ = ["METHODS", "Evaluation", "MethodResult", "Setting", "evaluate", "method"]
