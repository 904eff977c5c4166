"""Acquisition functions: pure functions of a `Belief`."""

from metabo.acquisition.analytic import EI, PI, UCB, LogEI, LogPI
from metabo.acquisition.base import AcquisitionFunction, HasAscent, Slopes, climbable, slopes_of
from metabo.acquisition.features import FEATURES
from metabo.acquisition.neural import Architecture, NeuralAF

__all__ = [
    "EI",
    "FEATURES",
    "PI",
    "UCB",
    "AcquisitionFunction",
    "Architecture",
    "HasAscent",
    "LogEI",
    "LogPI",
    "NeuralAF",
    "Slopes",
    "climbable",
    "slopes_of",
]
