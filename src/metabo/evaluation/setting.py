"""The setting that a method is built for."""

from dataclasses import dataclass
from typing import get_args

from metabo.choices import Hyperparameters as Hyperparameters
from metabo.policies import Searcher
from metabo.pretrained import TrainedAF
from metabo.tasks import TaskFamily

HYPERPARAMETERS: tuple[Hyperparameters, ...] = get_args(Hyperparameters)


@dataclass(frozen=True)
class Setting:
    """The family a method will meet, and how it may search."""

    family: TaskFamily
    """The family whose tasks a method will be run on."""
    search: Searcher
    """How acquisition functions are maximized."""
    device: str = "cpu"
    """Device that the tasks are on."""
    artifact: str | TrainedAF | None = None
    """The AF that `metabo` uses, or its name or file; the family's own if None."""
