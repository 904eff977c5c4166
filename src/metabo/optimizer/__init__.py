"""Ask and tell: a run over named parameters with the caller in the middle."""

from metabo.optimizer.ask_tell import Optimizer
from metabo.optimizer.configurations import CandidatesName, Configurations
from metabo.optimizer.evaluation import Direction, Evaluation, best_of, running_best
from metabo.optimizer.repair import Repair, repair
from metabo.optimizer.run import Run

__all__ = [
    "CandidatesName",
    "Configurations",
    "Direction",
    "Evaluation",
    "Optimizer",
    "Repair",
    "Run",
    "best_of",
    "repair",
    "running_best",
]
