"""Compare methods: by name, on the tasks of a family, on data sets never seen."""

from metabo.evaluation.evaluate import evaluate
from metabo.evaluation.methods import METHODS, Method, method
from metabo.evaluation.results import Evaluation, MethodResult
from metabo.evaluation.setting import Setting

__all__ = ["METHODS", "Evaluation", "Method", "MethodResult", "Setting", "evaluate", "method"]
