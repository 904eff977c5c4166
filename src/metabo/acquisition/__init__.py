"""Acquisition functions (AFs): pure functions that score the points of a `Belief`."""

from metabo.acquisition.analytic import EI, PI, UCB, LogEI, LogPI
from metabo.acquisition.base import AcquisitionFunction, HasAscent, Slopes, climbable, slopes_of
from metabo.acquisition.ensemble import merged
from metabo.acquisition.features import FEATURES
from metabo.acquisition.mixture import GMMUCB, Mixture
from metabo.acquisition.neural import Architecture, NeuralAF
from metabo.acquisition.on_learned import OnLearned
from metabo.acquisition.schedule import Schedule
from metabo.acquisition.transfer import TAF, Experts, LogTAF, Ranking

__all__ = [
    "EI",
    "FEATURES",
    "GMMUCB",
    "PI",
    "TAF",
    "UCB",
    "AcquisitionFunction",
    "Architecture",
    "Experts",
    "HasAscent",
    "LogEI",
    "LogPI",
    "LogTAF",
    "Mixture",
    "NeuralAF",
    "OnLearned",
    "Ranking",
    "Schedule",
    "Slopes",
    "climbable",
    "merged",
    "slopes_of",
]
