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
"""Values of the parameters, in the order of the space."""


@dataclass(frozen=True, eq=False)
class Table:
    """Results of M data sets at N configurations of a space."""

    space: Space
    """Named parameters of the configurations."""
    datasets: tuple[str, ...]
    """Names of the data sets."""
    configurations: tuple[Configuration, ...]
    """Configurations, each with its values in the order of the space."""
    measured: Float[Tensor, "M N"]
    """Results as in the files; NaN where nothing was measured."""
    direction: Direction = "maximize"
    """Whether larger or smaller results are better."""
    test: tuple[str, ...] = ()
    """Names of the data sets held out for testing."""
    budget: int = 20
    """Number of evaluations in an episode."""
    together: tuple[tuple[str, ...], ...] = ()
    """Groups of data sets of one origin, which no split may separate."""

    def __post_init__(self) -> None:
        """Check the names of data sets, and that each has at least two results."""
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
                    "only some of them are held out for testing."
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
        """Configurations as points of the unit cube."""
        names = list(self.space.parameters)
        rows = [self.space.encode(dict(zip(names, c, strict=True))) for c in self.configurations]
        return torch.stack(rows)

    @property
    def values(self) -> Float[Tensor, "M N"]:
        """Results, with their sign flipped if smaller ones are better."""
        return self.measured if self.direction == "maximize" else -self.measured

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of all data sets except those held out for testing."""
        return tuple(name for name in self.datasets if name not in self.test)

    def of(self, datasets: Sequence[str]) -> Float[Tensor, "m N"]:
        """Return the values of some data sets.

        Raises:
            OptionError: If a name is unknown.
        """
        for name in datasets:
            if name not in self.datasets:
                raise unknown("data set", name, self.datasets)
        return self.values[[self.datasets.index(name) for name in datasets]]
