"""Ask and tell: runs over named parameters that the caller evaluates."""

from metabo.optimizer.configurations import CandidatesName, Configurations
from metabo.optimizer.evaluation import Direction, Evaluation, best_of, running_best
from metabo.optimizer.optimizer import Optimizer
from metabo.optimizer.proposal import Proposal, Why
from metabo.optimizer.repair import Repair, repair
from metabo.optimizer.run import Run
from metabo.optimizer.settings import Difference, RunOptions, RunSettings

__all__ = [
    "CandidatesName",
    "Configurations",
    "Difference",
    "Direction",
    "Evaluation",
    "Optimizer",
    "Proposal",
    "Repair",
    "Run",
    "RunOptions",
    "RunSettings",
    "Why",
    "best_of",
    "repair",
    "running_best",
]
