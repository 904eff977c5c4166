"""Protocols of tasks and of families of tasks."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from metabo.domain import Domain
from metabo.gp import Prior
from metabo.shapes import Float, Int
from metabo.space import Space
from metabo.tasks.provenance import Provenance

Summary = Literal["median", "mean"]
"""Statistic that summarizes regret over the tasks of a family."""


@runtime_checkable
class Tasks(Protocol):
    """A batch of E noise-free objective functions to be maximized on the unit cube."""

    @property
    def optimum(self) -> Float[Tensor, " E"]:
        """The largest value of each function on its domain."""
        ...

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Evaluate function e at the points `x[e]`."""
        ...

    def take(self, index: Int[Tensor, " n"]) -> "Tasks":
        """Return the functions with these indices, in this order; an index may repeat."""
        ...

    def to(self, device: torch.device | str) -> "Tasks":
        """Return the same functions on another device."""
        ...


@runtime_checkable
class TasksWithPrior(Protocol):
    """Tasks that may come with their own GP hyperparameters."""

    @property
    def prior(self) -> Prior | None:
        """GP hyperparameters, one row per task; None if the tasks have none."""
        ...


@runtime_checkable
class MeasuredFamily(Protocol):
    """A family of tables, in which not every source was measured at every point."""

    def measured_sources(self, n: int) -> Float[Tensor, "n N"] | None:
        """Return the values of the first `n` sources at the points of the finite domain.

        They are in the order of `sources`, and NaN where nothing was measured. None if nothing is
        missing.
        """
        ...


@runtime_checkable
class TaskFamily(Protocol):
    """A distribution over tasks, and the setting in which they are optimized."""

    @property
    def name(self) -> str:
        """Name that the family is registered under."""
        ...

    @property
    def domain(self) -> Domain:
        """Domain on which the tasks can be queried."""
        ...

    @property
    def space(self) -> Space:
        """Named parameters of a query; `x1` to `xD` if queries are points of the unit cube."""
        ...

    @property
    def prior(self) -> Prior:
        """GP hyperparameters of the surrogate model, fixed during a run."""
        ...

    @property
    def budget(self) -> int:
        """Number of evaluations in an episode."""
        ...

    @property
    def noise(self) -> float:
        """Standard deviation of the Gaussian noise in observed values."""
        ...

    @property
    def regret_floor(self) -> float:
        """Smallest regret worth telling apart: below it, lower is not better in training."""
        ...

    @property
    def preset(self) -> str:
        """Name of the default training preset."""
        ...

    @property
    def summary(self) -> Summary:
        """Statistic that summarizes regret over the tasks.

        `median` with a 30-70 % band for tasks that are drawn at random; `mean` with a bootstrap
        interval for a few data sets.
        """
        ...

    @property
    def provenance(self) -> Provenance | None:
        """Origin of the measured data behind the tasks; None if the tasks are computed.

        A checkpoint compares it, and the card of a trained artifact records it.
        """
        ...

    @property
    def max_sources(self) -> int:
        """Number of source tasks; 0 if the family has none."""
        ...

    @property
    def n_tasks(self) -> int | None:
        """Number of different tasks; None if every draw is a new task."""
        ...

    def sample(self, n: int, generator: torch.Generator) -> Tasks:
        """Draw `n` tasks; the first m of them are those of `sample(m)`."""
        ...

    def sources(self, n: int) -> Tasks:
        """Return the first `n` source tasks, which are always the same and evenly spread."""
        ...

    def restricted(self, n_sources: int | None) -> "TaskFamily":
        """Return the family that learns from its first `n_sources` source tasks; all if None."""
        ...

    def validation(self) -> "TaskFamily | None":
        """Return the family of validation tasks; None if there are only the sources."""
        ...

    def test(self) -> "TaskFamily":
        """Return the family of test tasks."""
        ...

    def read(self, records: Sequence[Mapping[str, object]]) -> Tasks:
        """Return the tasks with these parameters, one record of named values per task."""
        ...
