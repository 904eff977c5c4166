"""Tables as families of tasks: each data set is a function on a finite set of configurations."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from metabo.domain import Finite
from metabo.errors import DataError, OptionError
from metabo.gp import Prior, fit
from metabo.rules import NAME
from metabo.shapes import Float
from metabo.space import Space
from metabo.tasks.base import Summary
from metabo.tasks.parameters import read_records
from metabo.tasks.provenance import Fingerprint, Provenance
from metabo.tasks.tabular.gaps import capped, filled
from metabo.tasks.tabular.prior import shared_prior
from metabo.tasks.tabular.split import Split, units_of
from metabo.tasks.tabular.table import Table
from metabo.tasks.tabular.tasks import TabularTasks, varied

Hyperparameters = Literal["shared", "fitted-on-test-data"]


@dataclass(frozen=True, eq=False)
class TabularFamily:
    """Data sets to learn from, and others held out for validation and testing.

    `sample` draws from the sources; `validation` and `test` return families of held-out data sets.
    Gaps are filled. In held-out data sets, filled values do not exceed the largest measured
    result, which is therefore the optimum.
    """

    name: str
    """Name of the family."""
    table: Table
    """Measured results of all data sets."""
    source_names: tuple[str, ...]
    """Names of the data sets to learn from."""
    validation_names: tuple[str, ...] = ()
    """Names of the data sets held out for validation."""
    test_names: tuple[str, ...] = ()
    """Names of the data sets held out for testing."""
    budget: int = 20
    """Number of evaluations in an episode."""
    hyperparameters: Hyperparameters = "shared"
    """Whether all data sets share the GP's hyperparameters, or each has its own."""
    noise: float = 0.0
    """Standard deviation of the noise added to observed values."""
    blend: float = 0.5
    """Share of drawn tasks that are weighted means of two data sets."""
    bend: float = 0.5
    """Standard deviation of the factor with which the difference of two data sets is added to a
    drawn task."""
    in_order: bool = False
    """Whether `sample` returns every held-out data set once, in random order, before it repeats
    one."""
    split: Split = field(default_factory=Split)
    """Split of the table's data sets."""
    regret_floor: float = 1e-6
    """Smallest regret worth telling apart."""
    preset: str = "table"
    """Name of the default training preset."""

    def __post_init__(self) -> None:
        """Check that there are data sets to learn from, and that no data set is on two sides."""
        if not self.source_names:
            raise DataError(f"Family `{self.name}` has no data set to learn from.")
        sides = (*self.source_names, *self.validation_names, *self.test_names)
        if len(set(sides)) < len(sides) and not self.in_order:
            twice = next(name for name in sides if sides.count(name) > 1)
            raise DataError(f"Data set `{twice}` is on two sides of the split.")

    @cached_property
    def domain(self) -> Finite:
        """The table's configurations."""
        return Finite(self.table.points)

    @property
    def space(self) -> Space:
        """Named parameters of a configuration."""
        return self.table.space

    @property
    def summary(self) -> Summary:
        """Mean, because there are few data sets and all of them count."""
        return "mean"

    @cached_property
    def provenance(self) -> Provenance:
        """Data sets on each side of the split, with their fingerprints."""
        groups = units_of(self.table.sources, self.table.together)
        return Provenance(
            self._fingerprint(self.source_names),
            self._fingerprint(self.validation_names),
            self.test_names,
            tuple(tuple(group) for group in groups),
            self.table.direction,
            self.table.configurations,
        )

    @cached_property
    def prior(self) -> Prior:
        """GP hyperparameters shared by all data sets, of maximum likelihood on the sources."""
        values = filled(self.domain.points, self.table.of(self.source_names))
        return shared_prior(self.domain.points, values).with_noise(self.noise)

    def sample(self, n: int, generator: torch.Generator) -> TabularTasks:
        """Draw `n` tasks: variations of the sources, or the held-out data sets themselves."""
        if not self.in_order:
            draws = torch.rand(n, 7, generator=generator, dtype=torch.float64)
            return varied(self._sources, draws, blend=self.blend, bend=self.bend)
        order = torch.randperm(len(self.test_names), generator=generator)
        repeats = -(-n // len(self.test_names))
        return self._tried(self.test_names).take(order.repeat(repeats)[:n])

    @property
    def max_sources(self) -> int:
        """Number of data sets to learn from."""
        return len(self.source_names)

    @property
    def n_tasks(self) -> int | None:
        """Number of different data sets that `sample` draws from."""
        return len(self.test_names if self.in_order else self.source_names)

    def sources(self, n: int) -> TabularTasks:
        """Return the first `n` data sets to learn from, in an order given by the split's seed."""
        return self._sources.take(torch.arange(n))

    def measured_sources(self, n: int) -> Float[Tensor, "n N"] | None:
        """Return what was measured of `sources(n)`, NaN in the gaps; None if there are none."""
        values = self.table.of(self.source_names[:n])
        return None if bool(values.isfinite().all()) else values

    def restricted(self, n_sources: int | None) -> "TabularFamily":
        """Return the family that learns from `n_sources` of the data sets; from all if None."""
        split = replace(self.split, sources=n_sources)
        sides = split.sides(self.table)
        return replace(
            self,
            source_names=sides.learned,
            validation_names=sides.validated,
            test_names=sides.tested,
            split=split,
        )

    def read(self, records: Sequence[Mapping[str, object]]) -> TabularTasks:
        """Return the tasks that records such as `{"dataset": "letter"}` name."""
        found = read_records(records, {"dataset": NAME})
        return self._tried(tuple(str(record["dataset"]) for record in found))

    def validation(self) -> "TabularFamily | None":
        """Return the family of the data sets held out for validation; None if there are none."""
        return self._apart(self.validation_names) if self.validation_names else None

    def test(self) -> "TabularFamily":
        """Return the family of the data sets held out for testing.

        Raises:
            OptionError: If there are none.
        """
        if not self.test_names:
            raise OptionError(
                f"Family `{self.name}` has no data sets held out for testing. Name some in its "
                "`table.json`, or hold out a fold: `:fold=0`."
            )
        return self._apart(self.test_names)

    def _fingerprint(self, names: tuple[str, ...]) -> Fingerprint:
        digest = hashlib.sha256()
        for part in (self.domain.points, self.table.of(names)):
            digest.update(part.numpy().tobytes())
        return Fingerprint(names, digest.hexdigest())

    @cached_property
    def _sources(self) -> TabularTasks:
        return self._tasks(filled(self.domain.points, self.table.of(self.source_names)))

    def _apart(self, names: tuple[str, ...]) -> "TabularFamily":
        return replace(self, validation_names=(), test_names=names, in_order=True)

    def _tried(self, names: tuple[str, ...]) -> TabularTasks:
        measured = self.table.of(names)
        return self._tasks(capped(filled(self.domain.points, measured), measured))

    def _tasks(self, values: Float[Tensor, "M N"]) -> TabularTasks:
        points = self.domain.points
        if self.hyperparameters == "shared":
            return TabularTasks(points, values)
        inputs = points.expand(len(values), -1, -1)
        return TabularTasks(points, values, fit(inputs, values, mean="observed"))
