"""What a task and a family of tasks are."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from metabo.domain import Domain
from metabo.gp import Prior
from metabo.shapes import Float, Int
from metabo.space import Space


@runtime_checkable
class Tasks(Protocol):
    """E objective functions side by side, noise-free, to be maximized on the unit cube."""

    @property
    def optimum(self) -> Float[Tensor, " E"]:
        """The largest value of each function on its domain."""
        ...

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Evaluate function e at the points `x[e]`."""
        ...

    def take(self, index: Int[Tensor, " n"]) -> "Tasks":
        """The functions with these numbers, in this order; a number may repeat."""
        ...

    def to(self, device: torch.device | str) -> "Tasks":
        """The same functions on another device."""
        ...


@runtime_checkable
class TasksWithPrior(Protocol):
    """Tasks that come with GP hyperparameters of their own, or not: then they are None."""

    @property
    def prior(self) -> Prior | None:
        """One row per task."""
        ...


@runtime_checkable
class TaskFamily(Protocol):
    """A distribution over tasks, and the setting in which they are optimized."""

    @property
    def name(self) -> str:
        """The name it is registered under."""
        ...

    @property
    def domain(self) -> Domain:
        """Where its tasks may be queried."""
        ...

    @property
    def prior(self) -> Prior:
        """GP hyperparameters of the surrogate model, fixed during a run."""
        ...

    @property
    def budget(self) -> int:
        """Evaluations in an episode."""
        ...

    @property
    def noise(self) -> float:
        """Standard deviation of the Gaussian noise in observed values."""
        ...

    def sample(self, n: int, generator: torch.Generator) -> Tasks:
        """Draw `n` tasks; the first m of n are those of `sample(m)`."""
        ...

    @property
    def max_sources(self) -> int:
        """How many source tasks there are; 0 in a family without any."""
        ...

    def sources(self, n: int) -> Tasks:
        """The family's first `n` source tasks: always the same, spread evenly."""
        ...

    def validation(self) -> "TaskFamily | None":
        """Where tasks to choose by are drawn from: None if there is nothing but the sources."""
        ...

    def test(self) -> "TaskFamily":
        """Where test tasks are drawn from."""
        ...

    @property
    def n_tasks(self) -> int | None:
        """How many different tasks there are; None where every draw is another."""
        ...

    def read(self, records: Sequence[Mapping[str, object]]) -> Tasks:
        """Tasks from their parameters by name, as a task file holds them."""
        ...


@runtime_checkable
class HasSpace(Protocol):
    """A family whose tasks have parameters with names and ranges of their own."""

    @property
    def space(self) -> Space | None:
        """The parameters; None for the unit cube."""
        ...


def space_of(family: TaskFamily) -> Space:
    """What the family's queries mean: its own parameters, or `x1` to `xD` in [0, 1]."""
    space = family.space if isinstance(family, HasSpace) else None
    return Space.cube(family.domain.dim) if space is None else space
