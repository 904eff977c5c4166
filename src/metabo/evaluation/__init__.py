"""Comparison of methods by name, on unseen tasks of a family or unseen data sets."""

from metabo.evaluation.evaluate import evaluate
from metabo.evaluation.methods import METHODS, Method, method
from metabo.evaluation.results import Evaluation, MethodResult
from metabo.evaluation.setting import Setting

__all__ = ["METHODS", "Evaluation", "Method", "MethodResult", "Setting", "evaluate", "method"]
