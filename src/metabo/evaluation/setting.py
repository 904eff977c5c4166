"""What a method is built for."""

from dataclasses import dataclass
from typing import Literal

from metabo.policies import Searcher
from metabo.tasks import TaskFamily

Hyperparameters = Literal["known", "fitted"]
"""Of the GP: the family's or each task's own, or found during the run."""
HYPERPARAMETERS: tuple[Hyperparameters, ...] = ("known", "fitted")


@dataclass(frozen=True)
class Setting:
    """The family a method will meet, and how it may search."""

    family: TaskFamily
    search: Searcher
    device: str = "cpu"
    artifact: str | None = None
    """Name or file of the AF that `metabo` uses; the family's own if None."""
