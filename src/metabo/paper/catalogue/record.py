"""`Experiment`: a record of what is run at each scale."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import get_args

from metabo.choices import ScaleName as ScaleName
from metabo.evaluation.setting import Hyperparameters
from metabo.policies import SearchName

SCALES: tuple[ScaleName, ...] = get_args(ScaleName)
BENCHMARKS = ("branin", "goldstein-price", "hartmann-3")
ALL_SOURCES = "all"
"""In place of a number of source tasks: a new task in every episode."""


@dataclass(frozen=True)
class Scale:
    """The size of an experiment."""

    tasks: int
    """Number of tasks of each family."""
    budget: int
    """Number of evaluations per task."""
    grid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Settings that a parameter search tries, by method."""
    sources: tuple[str, ...] = ()
    """Numbers of source tasks that a study compares; an AF is trained for each."""
    training: tuple[str, ...] = ()
    """How a study of source tasks trains: `preset=NAME`, then settings that differ from it."""


@dataclass(frozen=True)
class Unit:
    """One method on one family, which is run as a whole and stored in one file."""

    experiment: str
    """Name of the experiment."""
    scale: ScaleName
    """Scale at which the experiment is run."""
    kind: str
    """Name of the kind of experiment."""
    family: str
    """Name of the family, with options."""
    method: str
    """Name of the method, with options."""
    tasks: int
    """Number of tasks."""
    budget: int
    """Number of evaluations per task."""
    search: SearchName
    """How acquisition functions are maximized."""
    seed: int
    """Random seed for tasks and episodes."""
    stream: str
    """Random stream that tasks are drawn from."""
    settings: tuple[str, ...] = ()
    """Methods with options that a parameter search tries."""
    artifact: str | None = None
    """Artifact that `metabo` uses on a family without its own artifact."""
    sources: str = ""
    """Number of source tasks in a study of it; empty in other experiments."""
    training: tuple[str, ...] = ()
    """How a study of source tasks trains: a preset and settings that differ from it."""
    hyperparameters: Hyperparameters = "known"
    """Whether the hyperparameters of the GP are known or fitted during the run."""

    @property
    def label(self) -> str:
        """Name that distinguishes the unit from the others of its family."""
        return f"{self.method}:sources={self.sources}" if self.sources else self.method

    @property
    def path(self) -> str:
        """Path of the stored result, relative to the results folder."""
        name = f"{self.family}.{self.label}.json".replace(":", ".")
        return f"{self.experiment}/{self.scale}/{name}"

    @property
    def configuration(self) -> dict[str, object]:
        """The unit as stored; newer fields are left out if unused, to match older results."""
        later = {"artifact": None, "sources": "", "training": (), "hyperparameters": "known"}
        described = asdict(self)
        return {k: v for k, v in described.items() if k not in later or v != later[k]}


@dataclass(frozen=True)
class Experiment:
    """A figure or table: every method on every family, at each scale."""

    name: str
    """Name that `metabo report` takes."""
    title: str
    """Title of tables and pictures."""
    kind: str
    """Name of the kind in `metabo.paper.kinds.KINDS`, which runs and shows the experiment."""
    methods: tuple[str, ...]
    """Names of the methods, with options."""
    scales: Mapping[ScaleName, Scale]
    """Size of the experiment at each scale."""
    families: tuple[str, ...] = BENCHMARKS
    """Names of the families, with options."""
    search: SearchName = "grid"
    """How acquisition functions are maximized; by default as in the paper."""
    seed: int = 0
    """Random seed for tasks and episodes."""
    stream: str = "test tasks"
    """Random stream that tasks are drawn from."""
    artifact: str | None = None
    """Artifact that `metabo` uses on families without their own artifact."""
    hyperparameters: Hyperparameters = "known"
    """Whether the hyperparameters of the GP are known or fitted during the run."""
    threshold: float | None = None
    """Regret to be reached, in experiments that count the steps to it."""

    def units(self, scale: ScaleName) -> Iterator[Unit]:
        """Yield everything that has to be run, family by family."""
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
