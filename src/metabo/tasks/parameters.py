"""The parameters that tell the tasks of a family apart, and the box they are drawn from."""

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
    low: float
    high: float
    size: int | None = None
    """Length of the list; None for a plain number."""
    draw_sign: bool = False
    """Whether [low, high] bounds the magnitude and each sign is drawn, as for ranges outside."""
    limits: tuple[Range, ...] | None = None
    """Where each number must lie for its task to make sense: draws are clipped to it."""

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
                f"The range of `{self.name}` must meet {self._span}, where its tasks make sense, "
                f"but got {ends}."
            )

    @property
    def n_coordinates(self) -> int:
        """Uniform numbers needed for one draw."""
        return (self.size or 1) * (2 if self.draw_sign else 1)

    def at(self, unit: Float[Tensor, "n p"]) -> Tensor:
        """The values for points of the unit cube: `n size`, or `n` for a plain number."""
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
        """The limits, for messages."""
        return " x ".join(f"[{low:.4g}, {high:.4g}]" for low, high in self.limits or ())


def signed(name: str, magnitude: Range, limits: tuple[Range, ...]) -> TaskParameter:
    """A list of numbers with magnitudes in a range and either sign, one number per limit.

    With magnitudes from 0 they are drawn from [-high, high], as the published tasks are.
    """
    low, high = magnitude
    if not low >= 0:
        raise OptionError(f"`{name}` is a range of magnitudes from 0 up, but got {low}..{high}.")
    return TaskParameter(
        name, low if low > 0 else -high, high, len(limits), draw_sign=low > 0, limits=limits
    )


@dataclass(frozen=True)
class ParameterBox:
    """All parameters of a family's tasks."""

    parameters: tuple[TaskParameter, ...]

    def sample(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Uniform draws; the first m of n are those of `sample(m)`."""
        return self._at(torch.rand(n, self._dim, generator=generator, dtype=torch.float64))

    def sobol(self, n: int) -> dict[str, Tensor]:
        """The first `n` Sobol points of the box, beginning at its centre."""
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
