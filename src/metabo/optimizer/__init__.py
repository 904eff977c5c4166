"""Ask and tell: a run over named parameters with the caller in the middle."""

from metabo.optimizer.ask_tell import Optimizer
from metabo.optimizer.evaluation import Direction, Evaluation, running_best

__all__ = ["Direction", "Evaluation", "Optimizer", "running_best"]
