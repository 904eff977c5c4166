"""Meta-training: PPO over batched BO runs."""

from metabo.training.api import train
from metabo.training.config import TrainConfig, read_settings
from metabo.training.interrupt import TrainingInterrupted
from metabo.training.log import Event
from metabo.training.presets import PRESETS, preset
from metabo.training.tensorboard import TensorBoard
from metabo.training.trainer import Trainer, TrainingError

__all__ = [
    "PRESETS",
    "Event",
    "TensorBoard",
    "TrainConfig",
    "Trainer",
    "TrainingError",
    "TrainingInterrupted",
    "preset",
    "read_settings",
    "train",
]
