"""What a method is built for."""

from dataclasses import dataclass
from typing import get_args

from metabo.choices import Hyperparameters as Hyperparameters
from metabo.policies import Searcher
from metabo.tasks import TaskFamily

HYPERPARAMETERS: tuple[Hyperparameters, ...] = get_args(Hyperparameters)


@dataclass(frozen=True)
class Setting:
    """The family a method will meet, and how it may search."""

    family: TaskFamily
    search: Searcher
    device: str = "cpu"
    artifact: str | None = None
    """Name or file of the AF that `metabo` uses; the family's own if None."""
