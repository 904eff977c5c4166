"""What a task and a family of tasks are."""

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
"""How regret over the tasks of a family is summarized."""


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
    def space(self) -> Space:
        """The named parameters that a query stands for; `x1` to `xD` for the unit cube itself."""
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
    def preset(self) -> str:
        """Name of the training preset to use where none is named."""
        ...

    @property
    def summary(self) -> Summary:
        """How regret over its tasks is summarized.

        `median` with a 30-70 % band, for tasks that are drawn; `mean` with a bootstrap interval,
        for a few data sets.
        """
        ...

    @property
    def provenance(self) -> Provenance | None:
        """The measured data behind its tasks; None where a program makes them.

        A checkpoint compares it, and the card of a trained artifact records it.
        """
        ...

    @property
    def max_sources(self) -> int:
        """How many source tasks there are; 0 in a family without any."""
        ...

    def sources(self, n: int) -> Tasks:
        """The family's first `n` source tasks: always the same, spread evenly."""
        ...

    def restricted(self, n_sources: int | None) -> "TaskFamily":
        """The family that learns from its first `n_sources` source tasks; from all if None."""
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
