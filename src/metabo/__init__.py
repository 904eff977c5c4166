"""Learned acquisition functions for Bayesian optimization of related problems."""

from metabo.errors import MetaBOError
from metabo.experiments import evaluate
from metabo.space import Choice, Float, Int, Space
from metabo.tasks import family

__all__ = ["Choice", "Float", "Int", "MetaBOError", "Space", "evaluate", "family"]
__version__ = "0.1.0"
