"""What an experiment is: a record of what is run at each scale."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import get_args

from metabo.choices import ScaleName as ScaleName
from metabo.evaluation.setting import Hyperparameters
from metabo.policies import SearchName

SCALES: tuple[ScaleName, ...] = get_args(ScaleName)
BENCHMARKS = ("branin", "goldstein-price", "hartmann-3")
ALL_SOURCES = "all"
"""Stands for a number of source tasks: a fresh task in every episode."""


@dataclass(frozen=True)
class Scale:
    """How much of an experiment is run."""

    tasks: int
    budget: int
    grid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a parameter search: the settings to try, by method."""
    sources: tuple[str, ...] = ()
    """For a study of source tasks: their numbers, each of which is trained with."""
    training: tuple[str, ...] = ()
    """For such a study: `preset=NAME`, then settings of `TrainConfig` that differ from it."""


@dataclass(frozen=True)
class Unit:
    """What is run at a stretch and stored in one file: one method on one family."""

    experiment: str
    scale: ScaleName
    kind: str
    family: str
    method: str
    tasks: int
    budget: int
    search: SearchName
    seed: int
    stream: str
    settings: tuple[str, ...] = ()
    """For a parameter search: the methods with options to try."""
    artifact: str | None = None
    """For `metabo` on a family without an artifact of its own."""
    sources: str = ""
    """For a study of source tasks: their number."""
    training: tuple[str, ...] = ()
    """For such a study: how it trains."""
    hyperparameters: Hyperparameters = "known"

    @property
    def label(self) -> str:
        """What tells it from the other units of its family."""
        return f"{self.method}:sources={self.sources}" if self.sources else self.method

    @property
    def path(self) -> str:
        """Where it is stored, below the results folder."""
        name = f"{self.family}.{self.label}.json".replace(":", ".")
        return f"{self.experiment}/{self.scale}/{name}"

    @property
    def configuration(self) -> dict[str, object]:
        """As stored; what came later is left out where it is not used, for older results."""
        later = {"artifact": None, "sources": "", "training": (), "hyperparameters": "known"}
        described = asdict(self)
        return {k: v for k, v in described.items() if k not in later or v != later[k]}


@dataclass(frozen=True)
class Experiment:
    """A figure or table: every method on every family, at each scale."""

    name: str
    title: str
    kind: str
    """How it is run and shown: a name in `metabo.paper.kinds.KINDS`."""
    methods: tuple[str, ...]
    scales: Mapping[ScaleName, Scale]
    families: tuple[str, ...] = BENCHMARKS
    search: SearchName = "grid"
    """The paper's, unless said otherwise."""
    seed: int = 0
    stream: str = "test tasks"
    """The stream of random numbers that tasks are drawn from."""
    artifact: str | None = None
    """For `metabo` on families without an artifact of their own."""
    hyperparameters: Hyperparameters = "known"
    threshold: float | None = None
    """The regret that has to be reached, where steps to it are counted."""

    def units(self, scale: ScaleName) -> Iterator[Unit]:
        """All that has to be run, family by family."""
        size = self.scales[scale]
        for family in self.families:
            for method in self.methods:
                for sources in size.sources or ("",):
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
                        self.artifact if method == "metabo" else None,
                        sources,
                        size.training,
                        self.hyperparameters,
                    )
