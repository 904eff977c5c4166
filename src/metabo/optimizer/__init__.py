"""Ask and tell: a run over named parameters with the caller in the middle."""

from metabo.optimizer.ask_tell import Optimizer
from metabo.optimizer.configurations import CandidatesName, Configurations
from metabo.optimizer.evaluation import Direction, Evaluation, running_best

__all__ = [
    "CandidatesName",
    "Configurations",
    "Direction",
    "Evaluation",
    "Optimizer",
    "running_best",
]
