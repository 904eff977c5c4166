"""The parameters in which the tasks of a family differ, and the box they are drawn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from metabo.domain import sobol
from metabo.errors import DataError, OptionError, brief, listed, shown
from metabo.options import Range
from metabo.rules import Rule, is_number, number, require_fields
from metabo.shapes import Float


@dataclass(frozen=True)
class TaskParameter:
    """A number, or a list of `size` numbers, each uniform in [low, high]."""

    name: str
    """Name of the parameter."""
    low: float
    """Smallest number that is drawn."""
    high: float
    """Largest number that is drawn."""
    size: int | None = None
    """Length of the list; None for a single number."""
    draw_sign: bool = False
    """Whether [low, high] is the range of magnitudes, and signs are drawn too."""
    limits: tuple[Range, ...] | None = None
    """Range in which each number gives a valid task; drawn numbers are clipped to it."""

    def __post_init__(self) -> None:
        """Check the range."""
        ends = f"{brief(self.low)}..{brief(self.high)}"
        is_range = is_number(self.low) and is_number(self.high) and self.low <= self.high
        if not (is_range and is_number(float(self.high) - float(self.low))):
            raise OptionError(
                f"The range of `{shown(self.name)}` must be finite with low <= high, but got "
                f"{ends}."
            )
        if self.limits and (
            all(self.low > high for _, high in self.limits)
            or all(self.high < low for low, _ in self.limits)
        ):
            raise OptionError(
                f"The range of `{self.name}` must overlap {self._span}, where tasks are valid, "
                f"but got {ends}."
            )

    @property
    def n_coordinates(self) -> int:
        """Number of uniform numbers needed for one draw."""
        return (self.size or 1) * (2 if self.draw_sign else 1)

    def at(self, unit: Float[Tensor, "n p"]) -> Tensor:
        """Return the values at points of the unit cube: `n size`, or `n` for a single number."""
        size = self.size or 1
        values = self.low + unit[:, :size] * (self.high - self.low)
        if self.draw_sign:
            values = torch.where(unit[:, size:] > 0.5, -values, values)
        if self.limits:
            low, high = values.new_tensor(self.limits).unbind(-1)
            values = values.clamp(low, high)
        return values if self.size else values[:, 0]

    @property
    def rule(self) -> Rule:
        """Rule for a value in a task file; it may lie outside the range that is drawn from."""
        form = f"a list of {self.size} finite numbers" if self.size else number().form

        def accepts(value: object) -> bool:
            items = value if self.size else [value]
            return (
                isinstance(items, list)
                and len(items) == (self.size or 1)
                and all(map(is_number, items))
                and all(
                    low <= item <= high
                    for item, (low, high) in zip(items, self.limits or (), strict=False)
                )
            )

        return Rule(f"{form} in {self._span}" if self.limits else form, accepts)

    @property
    def _span(self) -> str:
        """Limits, for messages."""
        return " x ".join(f"[{low:.4g}, {high:.4g}]" for low, high in self.limits or ())


def signed(name: str, magnitude: Range, limits: tuple[Range, ...]) -> TaskParameter:
    """Return a list of numbers of either sign with magnitudes in a range, one number per limit.

    If magnitudes start at 0, numbers are drawn from [-high, high], as for the published tasks.
    """
    low, high = magnitude
    if not low >= 0:
        raise OptionError(
            f"`{name}` must be a range of magnitudes of at least 0, but got {low}..{high}."
        )
    return TaskParameter(
        name, low if low > 0 else -high, high, len(limits), draw_sign=low > 0, limits=limits
    )


@dataclass(frozen=True)
class ParameterBox:
    """All parameters in which the tasks of a family differ."""

    parameters: tuple[TaskParameter, ...]
    """The parameters, in the order of their coordinates."""

    def sample(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw `n` values of each parameter; the first m of them are those of `sample(m)`."""
        return self._at(torch.rand(n, self._dim, generator=generator, dtype=torch.float64))

    def sobol(self, n: int) -> dict[str, Tensor]:
        """Return the first `n` Sobol points of the box, of which the first is its centre."""
        return self._at(sobol(n, self._dim))

    def read(self, records: Sequence[Mapping[str, object]]) -> dict[str, Tensor]:
        """Return the values from one record per task, each with exactly these parameters.

        Raises:
            DataError: If there are no records, or one of them does not fit.
        """
        rules = {p.name: p.rule for p in self.parameters}
        found = read_records(records, rules)
        return {
            name: torch.tensor([_floats(record[name]) for record in found], dtype=torch.float64)
            for name in rules
        }

    @property
    def _dim(self) -> int:
        return sum(p.n_coordinates for p in self.parameters)

    def _at(self, unit: Tensor) -> dict[str, Tensor]:
        parts = unit.split([p.n_coordinates for p in self.parameters], -1)
        return {p.name: p.at(part) for p, part in zip(self.parameters, parts, strict=True)}


def read_records(
    records: Sequence[Mapping[str, object]], rules: Mapping[str, Rule]
) -> list[dict[str, object]]:
    """Return the records of a task list after checking that each has exactly these fields.

    Raises:
        DataError: If there are no records, or one of them does not fit.
    """
    if not records:
        raise DataError("A task list must contain at least one task, but it is empty.")
    remedy = f"Give each task {listed(rules)}."
    return [
        require_fields(record, rules, f"Task {i}", required=tuple(rules), remedy=remedy)
        for i, record in enumerate(records)
    ]


def _floats(value: object) -> list[float] | float:
    if isinstance(value, list):
        return [float(item) for item in value]
    return float(cast(float, value))
