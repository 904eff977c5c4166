"""Learned acquisition functions for Bayesian optimization of related problems."""

from metabo.errors import MetaBOError
from metabo.evaluation import evaluate
from metabo.optimizer import Optimizer
from metabo.pretrained import load
from metabo.space import Choice, Float, Int, Space
from metabo.tasks import family, function_family, register
from metabo.training import train
from metabo.version import __version__

__all__ = [
    "Choice",
    "Float",
    "Int",
    "MetaBOError",
    "Optimizer",
    "Space",
    "__version__",
    "evaluate",
    "family",
    "function_family",
    "load",
    "register",
    "train",
]
