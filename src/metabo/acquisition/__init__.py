"""Acquisition functions: pure functions of a `Belief`."""

from metabo.acquisition.analytic import EI, PI, UCB, LogEI, LogPI
from metabo.acquisition.base import AcquisitionFunction, HasAscent, climbable

__all__ = ["EI", "PI", "UCB", "AcquisitionFunction", "HasAscent", "LogEI", "LogPI", "climbable"]
