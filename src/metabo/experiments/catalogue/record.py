"""What an experiment is: a record of what is run at each scale."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from metabo.policies import SearchName

Kind = Literal["regret", "seconds", "tuning", "table"]
ScaleName = Literal["smoke", "full"]
SCALES: tuple[ScaleName, ...] = ("smoke", "full")
BENCHMARKS = ("branin", "goldstein-price", "hartmann-3")


@dataclass(frozen=True)
class Scale:
    """How much of an experiment is run."""

    tasks: int
    budget: int
    grid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a parameter search: the settings to try, by method."""


@dataclass(frozen=True)
class Unit:
    """What is run at a stretch and stored in one file: one method on one family."""

    experiment: str
    scale: ScaleName
    kind: Kind
    family: str
    method: str
    tasks: int
    budget: int
    search: SearchName
    seed: int
    stream: str
    settings: tuple[str, ...] = ()
    """For a parameter search: the methods with options to try."""

    @property
    def path(self) -> str:
        """Where it is stored, below the results folder."""
        return f"{self.experiment}/{self.scale}/{self.family}.{self.method.replace(':', '.')}.json"


@dataclass(frozen=True)
class Experiment:
    """A figure or table: every method on every family, at each scale."""

    name: str
    title: str
    kind: Kind
    methods: tuple[str, ...]
    scales: Mapping[ScaleName, Scale]
    families: tuple[str, ...] = BENCHMARKS
    search: SearchName = "grid"
    """The paper's, unless said otherwise."""
    seed: int = 0
    stream: str = "test tasks"
    """The stream of random numbers that tasks are drawn from."""

    def units(self, scale: ScaleName) -> Iterator[Unit]:
        """All that has to be run, family by family."""
        size = self.scales[scale]
        for family in self.families:
            for method in self.methods:
                yield Unit(
                    self.name,
                    scale,
                    self.kind,
                    family,
                    method,
                    size.tasks,
                    size.budget,
                    self.search,
                    self.seed,
                    self.stream,
                    size.grid.get(method, ()),
                )
