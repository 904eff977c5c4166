"""Kinds of parameters, and how their values lie on coordinates of the unit cube.

A `Float` and an `Int` take one coordinate each, a `Choice` takes one per value (one-hot). An `Int`
with n values cuts its coordinate into n cells of which it occupies the centres, so that uniform
points decode to uniform integers, end values included; on a log scale the cells are those of the
logarithm.
"""

import math
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import torch
from torch import Tensor

from metabo.errors import DataError, OptionError, unknown

Value = float | int | str | bool | None


@dataclass(frozen=True)
class Float:
    """A real parameter in [low, high]."""

    low: float
    high: float
    log: bool = False

    n_coordinates: ClassVar[int] = 1
    """Coordinates taken in the cube."""
    levels: ClassVar[None] = None
    """How many values there are: not a finite number."""

    def __post_init__(self) -> None:
        """Check the interval."""
        _check_interval(self.low, self.high, log=self.log)

    def clean(self, value: object) -> Value:
        """The value as a plain float, if it is one of this parameter's."""
        return _number(value, self.low, self.high)

    def encode(self, value: object) -> list[float]:
        """The coordinate of a value."""
        number = _number(value, self.low, self.high)
        low, high, at = _scaled(self.low, self.high, number, log=self.log)
        return [(at - low) / (high - low)]

    def decode(self, coordinates: Tensor) -> Value:
        """The value at a coordinate."""
        low, high, _ = _scaled(self.low, self.high, self.low, log=self.log)
        at = low + float(coordinates[0]) * (high - low)
        return min(max(math.exp(at) if self.log else at, self.low), self.high)

    def project(self, coordinates: Tensor) -> Tensor:
        """Every coordinate is a value: nothing changes."""
        return coordinates


@dataclass(frozen=True)
class Int:
    """A whole-number parameter in [low, high], both included."""

    low: int
    high: int
    log: bool = False

    n_coordinates: ClassVar[int] = 1
    """Coordinates taken in the cube."""

    def __post_init__(self) -> None:
        """Check the interval."""
        _check_interval(self.low, self.high, log=self.log)
        if int(self.low) != self.low or int(self.high) != self.high:
            raise OptionError(
                f"`Int` bounds must be whole, but got low={self.low}, high={self.high}."
            )
        if self.high - self.low > 2**50:
            raise OptionError(
                f"An `Int` can span 2**50 at most, but got {self.low}..{self.high}. Use a `Float`."
            )

    @property
    def levels(self) -> int:
        """How many values there are."""
        return int(self.high - self.low) + 1

    def clean(self, value: object) -> Value:
        """The value as a plain int, if it is one of this parameter's."""
        number = _number(value, self.low, self.high)
        if number != int(number):
            raise DataError(f"A value of an `Int` must be whole, but got {value}.")
        return int(number)

    def encode(self, value: object) -> list[float]:
        """The coordinate of a value: the centre of its cell, or its logarithm on the log scale."""
        low, high, at = self._scaled(float(self.clean(value)))  # type: ignore[arg-type]
        return [(at - low) / (high - low)]

    def decode(self, coordinates: Tensor) -> Value:
        """The value in whose cell the coordinate lies."""
        return int(self._nearest(coordinates[:1]).item())

    def project(self, coordinates: Tensor) -> Tensor:
        """The coordinate of the value in whose cell each lies."""
        return self.shift(coordinates, 0)

    def shift(self, coordinates: Tensor, by: int) -> Tensor:
        """The coordinate of the value so many whole numbers further, inside the bounds."""
        low, high, _ = self._scaled(self.low)
        value = (self._nearest(coordinates) + by).clamp(self.low, self.high)
        return ((value.log() if self.log else value) - low) / (high - low)

    def _scaled(self, number: float) -> tuple[float, float, float]:
        return _scaled(self.low - 0.5, self.high + 0.5, number, log=self.log)

    def _nearest(self, coordinates: Tensor) -> Tensor:
        low, high, _ = self._scaled(self.low)
        at = low + coordinates * (high - low)
        return (at.exp() if self.log else at).round().clamp(self.low, self.high)


@dataclass(frozen=True)
class Choice:
    """One of several values without order."""

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        """Check that there is something to choose."""
        if not isinstance(self.values, list | tuple):
            raise OptionError(f"`Choice` needs a list of values, but got {self.values!r}.")
        object.__setattr__(self, "values", tuple(self.values))
        if not all(isinstance(value, Real | str | None) for value in self.values):
            raise OptionError(
                f"`Choice` values are numbers, text, booleans or None, but got {self.values}."
            )
        if len(self.values) < 2 or any(self._matches(v).count(True) > 1 for v in self.values):
            raise OptionError(
                f"`Choice` needs at least two different values, but got {self.values}."
            )

    @property
    def n_coordinates(self) -> int:
        """Coordinates taken in the cube."""
        return len(self.values)

    @property
    def levels(self) -> int:
        """How many values there are."""
        return len(self.values)

    def clean(self, value: object) -> Value:
        """The value as it was declared, if it is one of this parameter's."""
        matches = self._matches(value)
        if not any(matches):
            raise unknown("choice", repr(value), map(repr, self.values))
        return self.values[matches.index(True)]

    def encode(self, value: object) -> list[float]:
        """One at the value's own coordinate, zero elsewhere."""
        own = self.clean(value)
        return [float(is_match) for is_match in self._matches(own)]

    def decode(self, coordinates: Tensor) -> Value:
        """The value with the largest coordinate, the first of equals."""
        return self.values[int(coordinates.argmax())]

    def project(self, coordinates: Tensor) -> Tensor:
        """One at the largest coordinate, zero elsewhere."""
        index = coordinates.argmax(-1, keepdim=True)
        return torch.zeros_like(coordinates).scatter(-1, index, 1.0)

    def _matches(self, value: object) -> list[bool]:
        if not isinstance(value, Real | str | None):
            return [False] * len(self.values)
        # 1 == True in Python, but not to a user.
        return [v == value and isinstance(v, bool) == isinstance(value, bool) for v in self.values]


Parameter = Float | Int | Choice


def _check_interval(low: float, high: float, *, log: bool) -> None:
    is_number = isinstance(low, Real) and isinstance(high, Real)
    if not (is_number and _is_finite(low) and _is_finite(high) and low < high):
        raise OptionError(
            f"`low < high` must hold and both be finite numbers, but got low={low}, high={high}."
        )
    if not _is_finite(high - low):
        raise OptionError(
            f"`high - low` must be a finite number, but got low={low}, high={high}. Use a log "
            "scale, or a parameter in other units."
        )
    if log and low <= 0:
        raise OptionError(f"`low` must be positive on a log scale, but got low={low}.")


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number may be too large for a float
        return False


def _number(value: object, low: float, high: float) -> float:
    number = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):  # a whole number may be too large for a float
            number = float(value)
    if not low <= number <= high:
        raise DataError(f"A value must be a number in [{low}, {high}], but got {value!r}.")
    return number


def _scaled(low: float, high: float, at: float, *, log: bool) -> tuple[float, float, float]:
    return (math.log(low), math.log(high), math.log(at)) if log else (low, high, at)
