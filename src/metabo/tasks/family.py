"""A family of tasks that are told apart by a few numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.domain import Domain
from metabo.errors import OptionError, brief
from metabo.gp import Prior
from metabo.space import Space
from metabo.tasks.base import Tasks
from metabo.tasks.parameters import ParameterBox

MAX_SOURCES = 1_000_000


@dataclass(frozen=True)
class ParametricFamily:
    """Tasks made from parameters drawn uniformly in a box, or from M fixed draws of it."""

    name: str
    domain: Domain
    prior: Prior
    budget: int
    box: ParameterBox
    make: Callable[[Mapping[str, Tensor]], Tasks]
    noise: float = 0.0
    n_sources: int | None = None
    """With M given, `sample` draws among the first M source tasks only."""
    space: Space | None = None
    """What the coordinates of a query are; None for `x1` to `xD` in [0, 1]."""

    def sample(self, n: int, generator: torch.Generator) -> Tasks:
        """Draw `n` tasks."""
        if self.n_sources is None:
            return self.make(self.box.sample(n, generator))
        unit = torch.rand(n, generator=generator, dtype=torch.float64)
        return self.sources(self.n_sources).take((unit * self.n_sources).long())

    @property
    def max_sources(self) -> int:
        """M where the family is restricted, else as many as `restricted` takes."""
        return MAX_SOURCES if self.n_sources is None else self.n_sources

    def sources(self, n: int) -> Tasks:
        """The first `n` Sobol points of the parameter box."""
        return self.make(self.box.sobol(n))

    def validation(self) -> "ParametricFamily":
        """All tasks, not only the sources; its random stream keeps them apart."""
        return replace(self, n_sources=None)

    def test(self) -> "ParametricFamily":
        """As drawn: its random stream keeps the tasks apart."""
        return self

    @property
    def n_tasks(self) -> int | None:
        """M where the family is restricted, else there is no end of them."""
        return self.n_sources

    def read(self, records: Sequence[Mapping[str, object]]) -> Tasks:
        """Tasks from their parameters by name; they may lie outside the box."""
        return self.make(self.box.read(records))

    def restricted(self, n_sources: int | None) -> "ParametricFamily":
        """The family of M fixed source tasks; None lifts the restriction."""
        if n_sources is not None and not 1 <= n_sources <= MAX_SOURCES:
            raise OptionError(
                f"`sources` must lie in 1..{MAX_SOURCES}, but got {brief(n_sources)}."
            )
        return replace(self, n_sources=n_sources)

    def observed_with(self, noise: float) -> "ParametricFamily":
        """The family observed with Gaussian noise, of which the surrogate model is told."""
        if not 0 <= noise <= 1e6:
            raise OptionError(f"`noise` must lie in 0..1e6, but got {brief(noise)}.")
        return replace(self, noise=noise, prior=self.prior.with_noise(noise))
