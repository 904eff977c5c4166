"""Tables as a family of tasks: each data set is a function on a finite set of configurations."""

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
    """Data sets to learn from, and others kept for validation and for testing.

    `sample` draws from the sources; `validation` and `test` are families of what is kept apart.
    Gaps are filled; in tasks to be tried on, by no more than the data set's largest result, which
    therefore is the optimum.
    """

    name: str
    table: Table
    source_names: tuple[str, ...]
    validation_names: tuple[str, ...] = ()
    test_names: tuple[str, ...] = ()
    budget: int = 20
    hyperparameters: Hyperparameters = "shared"
    noise: float = 0.0
    """Standard deviation of noise added to observed values."""
    blend: float = 0.5
    """Share of drawn tasks that are weighted means of two data sets."""
    bend: float = 0.5
    """How strongly drawn tasks are bent by the difference of two data sets, as a deviation."""
    in_order: bool = False
    """Whether `sample` presents each data set once, in a random order, before any comes again."""
    split: Split = field(default_factory=Split)
    """How the table's data sets were divided."""
    preset: str = "table"
    """Name of the training preset to use where none is named."""

    def __post_init__(self) -> None:
        """Check that there is something to learn from, and nothing on two sides."""
        if not self.source_names:
            raise DataError(f"Family `{self.name}` has no data set to learn from.")
        sides = (*self.source_names, *self.validation_names, *self.test_names)
        if len(set(sides)) < len(sides) and not self.in_order:
            twice = next(name for name in sides if sides.count(name) > 1)
            raise DataError(f"Data set `{twice}` is on two sides of the split.")

    @cached_property
    def domain(self) -> Finite:
        """The configurations."""
        return Finite(self.table.points)

    @property
    def space(self) -> Space:
        """The parameters behind the unit cube."""
        return self.table.space

    @property
    def summary(self) -> Summary:
        """Regret is summarized by its mean: there are few data sets, and all of them count."""
        return "mean"

    @cached_property
    def provenance(self) -> Provenance:
        """The data sets on each side of the split."""
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
        """Shared by all data sets: the likeliest for the sources, whatever is tested on."""
        values = filled(self.domain.points, self.table.of(self.source_names))
        return shared_prior(self.domain.points, values).with_noise(self.noise)

    def sample(self, n: int, generator: torch.Generator) -> TabularTasks:
        """Draw `n` tasks: variations of the sources, or the very data sets kept apart."""
        if not self.in_order:
            draws = torch.rand(n, 7, generator=generator, dtype=torch.float64)
            return varied(self._sources, draws, blend=self.blend, bend=self.bend)
        order = torch.randperm(len(self.test_names), generator=generator)
        repeats = -(-n // len(self.test_names))
        return self._tried(self.test_names).take(order.repeat(repeats)[:n])

    @property
    def max_sources(self) -> int:
        """How many data sets there are to learn from."""
        return len(self.source_names)

    @property
    def n_tasks(self) -> int | None:
        """How many different tasks `sample` has."""
        return len(self.test_names if self.in_order else self.source_names)

    def sources(self, n: int) -> TabularTasks:
        """The first `n` data sets to learn from, in an order that the split's seed decides."""
        return self._sources.take(torch.arange(n))

    def restricted(self, n_sources: int | None) -> "TabularFamily":
        """The family that learns from so many of the table's data sets; from all if None."""
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
        """The family of the data sets kept for validation; None if there are none."""
        return self._apart(self.validation_names) if self.validation_names else None

    def test(self) -> "TabularFamily":
        """The family of the data sets kept for testing."""
        if not self.test_names:
            raise OptionError(
                f"Family `{self.name}` has no data sets kept for testing. Name some in its "
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
