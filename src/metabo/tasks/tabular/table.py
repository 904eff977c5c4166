"""A table of results: data sets by configurations, a value in each cell or a gap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from metabo.errors import DataError, listed, shown, unknown
from metabo.shapes import Float
from metabo.space import Space, Value

Direction = Literal["maximize", "minimize"]
Configuration = tuple[Value, ...]
"""The values of the space's parameters, in its order."""


@dataclass(frozen=True, eq=False)
class Table:
    """What was measured: M data sets, N configurations of a space."""

    space: Space
    datasets: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    measured: Float[Tensor, "M N"]
    """As the files have them; NaN where nothing was measured."""
    direction: Direction = "maximize"
    test: tuple[str, ...] = ()
    """Data sets to keep for testing."""
    budget: int = 20
    together: tuple[tuple[str, ...], ...] = ()
    """Data sets of one origin, which no split may part."""

    def __post_init__(self) -> None:
        """Check what no cell can be missing: rows, and names of the split."""
        for name in self.test:
            if name not in self.datasets:
                raise unknown("test data set", name, self.datasets)
        for group in self.together:
            for name in group:
                if name not in self.datasets:
                    raise unknown("data set", name, self.datasets)
            if len({name in self.test for name in group}) > 1:
                raise DataError(
                    f"The data sets {listed(group)} belong together, but "
                    "only some of them are kept for testing."
                )
        counts = self.measured.isfinite().sum(-1)
        for name, count in zip(self.datasets, counts.tolist(), strict=True):
            if count < 2:
                raise DataError(
                    f"Data set `{shown(name)}` must have at least two results to be a task, but "
                    f"has {count}. Leave it out."
                )

    @property
    def points(self) -> Float[Tensor, "N D"]:
        """The configurations in the unit cube."""
        names = list(self.space.parameters)
        rows = [self.space.encode(dict(zip(names, c, strict=True))) for c in self.configurations]
        return torch.stack(rows)

    @property
    def values(self) -> Float[Tensor, "M N"]:
        """What was measured, larger being better."""
        return self.measured if self.direction == "maximize" else -self.measured

    @property
    def sources(self) -> tuple[str, ...]:
        """All data sets but those kept for testing."""
        return tuple(name for name in self.datasets if name not in self.test)

    def of(self, datasets: Sequence[str]) -> Float[Tensor, "m N"]:
        """The values of some data sets."""
        for name in datasets:
            if name not in self.datasets:
                raise unknown("data set", name, self.datasets)
        return self.values[[self.datasets.index(name) for name in datasets]]
