"""Meta-training: PPO over batched BO runs."""

from metabo.training.api import train
from metabo.training.config import PRESETS, TrainConfig, preset
from metabo.training.trainer import Event, Trainer, TrainingError

__all__ = ["PRESETS", "Event", "TrainConfig", "Trainer", "TrainingError", "preset", "train"]
