"""Tables as a family of tasks: each data set is a function on a finite set of configurations."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from metabo.domain import Finite
from metabo.errors import DataError, DomainError, OptionError
from metabo.gp import Prior, fit
from metabo.shapes import Float, Int
from metabo.space import Space
from metabo.tasks.tabular.gaps import filled
from metabo.tasks.tabular.prior import shared_prior
from metabo.tasks.tabular.table import Table

Hyperparameters = Literal["shared", "fitted-on-test-data"]
_COMPARED = 2**22
"""Comparisons of points at once."""


@dataclass(frozen=True)
class TabularTasks:
    """E data sets."""

    points: Float[Tensor, "N D"]
    values: Float[Tensor, "E N"]
    prior: Prior | None = None
    """Hyperparameters of each data set, where they are its own."""

    @property
    def optimum(self) -> Float[Tensor, " E"]:
        """The largest value of each data set."""
        return self.values.amax(-1)

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Look the configurations up."""
        size = max(1, _COMPARED // (len(x) * len(self.points)))
        return torch.cat([self._look_up(part) for part in x.split(size, 1)], 1)

    def _look_up(self, x: Tensor) -> Tensor:
        is_same = (x[:, :, None, :] == self.points).all(-1)  # E N n
        is_capturing = x.is_cuda and torch.cuda.is_current_stream_capturing()
        if not is_capturing and not bool(is_same.any(-1).all()):
            point = x[~is_same.any(-1)][0].tolist()
            raise DomainError(
                f"A table can be asked at its {len(self.points)} configurations only, but got the "
                f"point {point}."
            )
        return self.values.gather(1, is_same.byte().argmax(-1))

    def take(self, index: Int[Tensor, " n"]) -> "TabularTasks":
        """The data sets with these numbers."""
        prior = self.prior
        if prior is not None:
            prior = replace(
                prior,
                lengthscale=prior.lengthscale[index],
                signal_variance=prior.signal_variance[index],
                noise_variance=prior.noise_variance[index],
            )
        return TabularTasks(self.points, self.values[index], prior)

    def to(self, device: torch.device | str) -> "TabularTasks":
        """The same data sets on another device."""
        prior = None if self.prior is None else self.prior.to(device)
        return TabularTasks(self.points.to(device), self.values.to(device), prior)


@dataclass(frozen=True, eq=False)
class TabularFamily:
    """Data sets to learn from, and others kept for validation and for testing.

    `sample` draws from the sources; `validation` and `test` are families of what is kept apart.
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
    in_order: bool = False
    """Whether `sample` presents each data set once, in a random order, before any comes again."""

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

    @cached_property
    def prior(self) -> Prior:
        """Shared by all data sets: the likeliest for the sources, whatever is tested on."""
        values, middle = filled(self.domain.points, self.table.of(self.source_names))
        return (middle or shared_prior(self.domain.points, values)).with_noise(self.noise)

    def sample(self, n: int, generator: torch.Generator) -> TabularTasks:
        """Draw `n` of the family's data sets."""
        names = self.test_names if self.in_order else self.source_names
        if not self.in_order:
            unit = torch.rand(n, generator=generator, dtype=torch.float64)
            return self._tasks(names).take((unit * len(names)).long())
        order = torch.randperm(len(names), generator=generator)
        return self._tasks(names).take(order.repeat(-(-n // len(names)))[:n])

    @property
    def max_sources(self) -> int:
        """How many data sets there are to learn from."""
        return len(self.source_names)

    @property
    def n_tasks(self) -> int | None:
        """How many different tasks `sample` has."""
        return len(self.test_names if self.in_order else self.source_names)

    def sources(self, n: int) -> TabularTasks:
        """The first `n` data sets to learn from, in the order of their names."""
        return self._tasks(self.source_names[:n])

    def read(self, records: Sequence[Mapping[str, object]]) -> TabularTasks:
        """Tasks from `{"dataset": name}`."""
        names = []
        for number, record in enumerate(records):
            if not isinstance(record, Mapping) or set(record) != {"dataset"}:
                raise DataError(f'Task {number} must be {{"dataset": NAME}}, but is {record}.')
            names.append(str(record["dataset"]))
        if not names:
            raise DataError("There must be at least one task, but the list is empty.")
        return self._tasks(tuple(names))

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

    def fingerprint(self) -> dict[str, object]:
        """What an artifact says of the data it was trained on."""
        digest = hashlib.sha256()
        for part in (self.domain.points, self.table.of(self.source_names)):
            digest.update(part.numpy().tobytes())
        return {"datasets": list(self.source_names), "sha256": digest.hexdigest()}

    def _apart(self, names: tuple[str, ...]) -> "TabularFamily":
        family = replace(self, validation_names=(), test_names=names, in_order=True)
        if self.hyperparameters == "shared":
            family.__dict__["prior"] = self.prior  # known already
        return family

    def _tasks(self, names: tuple[str, ...]) -> TabularTasks:
        points = self.domain.points
        values, _ = filled(points, self.table.of(names))
        if self.hyperparameters == "shared":
            return TabularTasks(points, values)
        inputs = points.expand(len(values), -1, -1)
        return TabularTasks(points, values, fit(inputs, values, mean="observed"))
