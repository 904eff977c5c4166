"""Experiments: methods by name, runs that write files, and pictures of them."""

from metabo.experiments.evaluate import Evaluation, MethodResult, evaluate
from metabo.experiments.methods import METHODS, method
from metabo.experiments.setting import Setting

__all__ = ["METHODS", "Evaluation", "MethodResult", "Setting", "evaluate", "method"]
