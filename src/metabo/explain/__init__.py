"""Explanations of an acquisition function: beliefs, scores and decisions, as data and pictures."""

from metabo.explain.on_run import explain_run
from metabo.explain.on_tasks import Explanation, explain

__all__ = ["Explanation", "explain", "explain_run"]
