"""A family of tasks that are told apart by a few numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.domain import Box
from metabo.gp import Prior
from metabo.rules import MAX_COUNT, number, whole
from metabo.space import Space
from metabo.tasks.base import Summary, Tasks
from metabo.tasks.parameters import ParameterBox

NOISE = number(0, 1e6)
"""Rule for the standard deviation of the noise in observed values."""


@dataclass(frozen=True)
class ParametricFamily:
    """Tasks made from parameters drawn uniformly in a box, or from M fixed draws of it."""

    name: str
    """Name that the family is registered under."""
    space: Space
    """The named parameters that a query stands for; `Space.cube(D)` for the unit cube itself."""
    prior: Prior
    """GP hyperparameters of the surrogate model."""
    budget: int
    """Evaluations in an episode."""
    box: ParameterBox
    """The parameters that tell tasks apart, and their ranges."""
    make: Callable[[Mapping[str, Tensor]], Tasks]
    """Function that makes tasks from their parameters by name."""
    noise: float = 0.0
    """Standard deviation of the Gaussian noise in observed values."""
    n_sources: int | None = None
    """With M given, `sample` draws among the first M source tasks only."""
    preset: str = "default"
    """Name of the training preset to use where none is named."""

    @property
    def domain(self) -> Box:
        """The unit cube."""
        return Box(self.space.dim)

    @property
    def summary(self) -> Summary:
        """Regret is summarized by its median: there are as many tasks as one likes to draw."""
        return "median"

    @property
    def provenance(self) -> None:
        """None: the tasks are made by a program, not measured."""
        return

    def sample(self, n: int, generator: torch.Generator) -> Tasks:
        """Draw `n` tasks."""
        if self.n_sources is None:
            return self.make(self.box.sample(n, generator))
        unit = torch.rand(n, generator=generator, dtype=torch.float64)
        return self.sources(self.n_sources).take((unit * self.n_sources).long())

    @property
    def max_sources(self) -> int:
        """M where the family is restricted, else as many as `restricted` takes."""
        return MAX_COUNT if self.n_sources is None else self.n_sources

    def sources(self, n: int) -> Tasks:
        """The first `n` Sobol points of the parameter box."""
        return self.make(self.box.sobol(n))

    def validation(self) -> "ParametricFamily":
        """All tasks, not only the sources; its random stream keeps them apart."""
        return replace(self, n_sources=None)

    def test(self) -> "ParametricFamily":
        """The family itself: the random stream keeps its test tasks apart."""
        return self

    @property
    def n_tasks(self) -> int | None:
        """M where the family is restricted; None otherwise, as every draw is another task."""
        return self.n_sources

    def read(self, records: Sequence[Mapping[str, object]]) -> Tasks:
        """Tasks from their parameters by name; they may lie outside the box."""
        return self.make(self.box.read(records))

    def restricted(self, n_sources: int | None) -> "ParametricFamily":
        """The family of M fixed source tasks; None lifts the restriction."""
        if n_sources is not None:
            whole(1, MAX_COUNT).require("sources", n_sources)
        return replace(self, n_sources=n_sources)

    def observed_with(self, noise: float) -> "ParametricFamily":
        """The family observed with Gaussian noise, which the surrogate model knows of."""
        NOISE.require("noise", noise)
        return replace(self, noise=noise, prior=self.prior.with_noise(noise))
