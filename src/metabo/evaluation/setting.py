"""What a method is built for."""

from dataclasses import dataclass
from typing import Literal

from metabo.policies import Searcher
from metabo.pretrained import TrainedAF
from metabo.tasks import TaskFamily

Hyperparameters = Literal["known", "fitted"]
"""Hyperparameters of the GP: those of the family or of each task, or found during the run."""
HYPERPARAMETERS: tuple[Hyperparameters, ...] = ("known", "fitted")


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
