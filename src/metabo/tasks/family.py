"""Families of tasks that differ in a few numbers."""

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
    """A family of tasks whose parameters are uniform in a box, or one of M fixed points of it."""

    name: str
    """Name that the family is registered under."""
    space: Space
    """Named parameters of a query; `Space.cube(D)` if queries are points of the unit cube."""
    prior: Prior
    """GP hyperparameters of the surrogate model."""
    budget: int
    """Number of evaluations in an episode."""
    box: ParameterBox
    """Parameters in which tasks differ, and their ranges."""
    make: Callable[[Mapping[str, Tensor]], Tasks]
    """Function that creates tasks from their named parameters."""
    noise: float = 0.0
    """Standard deviation of the Gaussian noise in observed values."""
    n_sources: int | None = None
    """Number of source tasks that `sample` draws from; if None, every draw is a new task."""
    regret_floor: float = 1e-6
    """Smallest regret worth telling apart; larger if the optimum is known less exactly."""
    preset: str = "default"
    """Name of the default training preset."""

    @property
    def domain(self) -> Box:
        """The unit cube."""
        return Box(self.space.dim)

    @property
    def summary(self) -> Summary:
        """Median, because any number of tasks can be drawn."""
        return "median"

    @property
    def provenance(self) -> None:
        """None, because the tasks are computed, not measured."""
        return

    def sample(self, n: int, generator: torch.Generator) -> Tasks:
        """Draw `n` tasks."""
        if self.n_sources is None:
            return self.make(self.box.sample(n, generator))
        unit = torch.rand(n, generator=generator, dtype=torch.float64)
        return self.sources(self.n_sources).take((unit * self.n_sources).long())

    @property
    def max_sources(self) -> int:
        """Number of source tasks: that of a restricted family, or else a million."""
        return MAX_COUNT if self.n_sources is None else self.n_sources

    def sources(self, n: int) -> Tasks:
        """Return the tasks at the first `n` Sobol points of the parameter box."""
        return self.make(self.box.sobol(n))

    def validation(self) -> "ParametricFamily":
        """Return the unrestricted family; its tasks come from another random stream."""
        return replace(self, n_sources=None)

    def test(self) -> "ParametricFamily":
        """Return the family itself; test tasks come from another random stream."""
        return self

    @property
    def n_tasks(self) -> int | None:
        """Number of source tasks of a restricted family; otherwise None, as every draw is new."""
        return self.n_sources

    def read(self, records: Sequence[Mapping[str, object]]) -> Tasks:
        """Return the tasks with these named parameters, which may lie outside the box."""
        return self.make(self.box.read(records))

    def restricted(self, n_sources: int | None) -> "ParametricFamily":
        """Return the family of the first `n_sources` source tasks; unrestricted if None."""
        if n_sources is not None:
            whole(1, MAX_COUNT).require("sources", n_sources)
        return replace(self, n_sources=n_sources)

    def observed_with(self, noise: float) -> "ParametricFamily":
        """Return the family observed with Gaussian noise, which the surrogate model includes."""
        NOISE.require("noise", noise)
        return replace(self, noise=noise, prior=self.prior.with_noise(noise))
