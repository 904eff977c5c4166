"""Kinds of parameters, and how their values lie on coordinates of the unit cube.

A `Float` and an `Int` take one coordinate each, a `Choice` takes one per value (one-hot). An `Int`
with n values cuts its coordinate into n cells of which it occupies the centres, so that uniform
points decode to uniform integers, end values included; on a log scale the cells are those of the
logarithm.
"""

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Rational, Real
from typing import ClassVar, SupportsFloat

import numpy
import torch
from torch import Tensor

from metabo.errors import DataError, OptionError, brief, unknown

Value = float | int | str | bool | None

MOST = 2**50
"""Largest magnitude and span of an `Int`: the bounds of its cells, halves, are exact floats."""
MOST_LOG = 2**40
"""The same on a log scale, where beyond it neighbours would share a coordinate."""


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
        """Check the interval; its ends become plain floats."""
        _set(self, low=_plain(self.low), high=_plain(self.high))
        _check_interval(self.low, self.high, log=self.log)
        _set(self, low=float(self.low), high=float(self.high), log=bool(self.log))
        low, high, _ = _scaled(self.low, self.high, self.low, log=self.log)
        if not low < high:
            raise OptionError(
                "`low` and `high` must differ on the parameter's scale, as floats, but got "
                f"low={self.low}, high={self.high}, log={self.log}. Move them apart."
            )

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
        at = min(low + float(coordinates[0]) * (high - low), high)  # exp must not overflow
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
        """Check the interval; its ends become plain whole numbers."""
        _set(self, low=_plain(self.low), high=_plain(self.high))
        _check_interval(self.low, self.high, log=self.log)
        low, high = int(self.low), int(self.high)
        if low != self.low or high != self.high:
            raise OptionError(
                "`Int` bounds must be whole, but got "
                f"low={brief(self.low)}, high={brief(self.high)}. Use a `Float`."
            )
        most, power = (MOST_LOG, "2**40 on a log scale") if self.log else (MOST, "2**50")
        if max(-low, high, high - low) > most:
            raise OptionError(
                f"An `Int` must lie within {power} of 0 and span no more than that, but got "
                f"low={brief(low)}, high={brief(high)}. Use a `Float`, or other units."
            )
        _set(self, low=low, high=high, log=bool(self.log))

    @property
    def levels(self) -> int:
        """How many values there are."""
        return int(self.high - self.low) + 1

    def clean(self, value: object) -> Value:
        """The value as a plain int, if it is one of this parameter's."""
        number = _number(value, self.low, self.high)
        if number != int(number):
            raise DataError(f"A value of an `Int` must be whole, but got {brief(value)}.")
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
        """Check that there is something to choose; NumPy's values become plain ones."""
        if not isinstance(self.values, list | tuple):
            raise OptionError(f"`Choice` needs a list of values, but got {brief(self.values)}.")
        _set(self, values=tuple(map(_plain, self.values)))
        for value in self.values:
            if not _can_be_chosen(value):
                raise OptionError(
                    "`Choice` values are finite numbers, Unicode text, booleans or None, but got "
                    f"{brief(value)}. Write it as text, or number the choices."
                )
        if len(self.values) < 2 or len(self._positions) < len(self.values):
            raise OptionError(
                f"`Choice` needs at least two different values, but got {brief(self.values)}."
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
        return self.values[self._position(value)]

    def encode(self, value: object) -> list[float]:
        """One at the value's own coordinate, zero elsewhere."""
        coordinates = [0.0] * len(self.values)
        coordinates[self._position(value)] = 1.0
        return coordinates

    def decode(self, coordinates: Tensor) -> Value:
        """The value with the largest coordinate, the first of equals."""
        return self.values[int(coordinates.argmax())]

    def project(self, coordinates: Tensor) -> Tensor:
        """One at the largest coordinate, zero elsewhere."""
        index = coordinates.argmax(-1, keepdim=True)
        return torch.zeros_like(coordinates).scatter(-1, index, 1.0)

    def _position(self, value: object) -> int:
        plain = _plain(value)
        known = None
        if isinstance(plain, Real | str | None):
            known = self._positions.get((isinstance(plain, bool), plain))
        if known is None:
            raise unknown("choice", brief(value), map(brief, self.values))
        return known

    @cached_property
    def _positions(self) -> dict[tuple[bool, object], int]:
        # 1 == True in Python, but not to a user.
        return {(isinstance(v, bool), v): i for i, v in enumerate(self.values)}


Parameter = Float | Int | Choice


def _set(parameter: object, **fields: object) -> None:
    """Settle the fields of a frozen parameter while it is being made."""
    for name, value in fields.items():
        object.__setattr__(parameter, name, value)


def _plain(value: object) -> object:
    """A scalar of NumPy as Python's own; anything else as it is."""
    if not isinstance(value, numpy.generic):
        return value
    plain = value.item()
    return float(plain) if isinstance(plain, numpy.floating) else plain  # a long double stays one


def _can_be_chosen(value: object) -> bool:
    """Whether a value means the same after it was written as JSON."""
    if isinstance(value, str):
        return is_writable(value)
    is_fraction = isinstance(value, Rational) and not isinstance(value, Integral)
    return value is None or (isinstance(value, Real) and not is_fraction and _is_finite(value))


def is_writable(text: str) -> bool:
    """Whether text can be written to a file or a terminal: half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_interval(low: float, high: float, *, log: bool) -> None:
    if not isinstance(log, bool | numpy.bool_):
        raise OptionError(f"`log` must be True or False, but got {brief(log)}.")
    is_number = all(isinstance(b, Real) and not isinstance(b, bool) for b in (low, high))
    if not (is_number and _is_finite(low) and _is_finite(high) and low < high):
        raise OptionError(
            "`low < high` must hold and both be finite numbers, but got "
            f"low={brief(low)}, high={brief(high)}."
        )
    if not _is_finite(float(high) - float(low)):
        raise OptionError(
            f"`high - low` must be a finite number, but got low={brief(low)}, "
            f"high={brief(high)}. Use a parameter in other units."
        )
    if log and low <= 0:
        raise OptionError(f"`low` must be positive on a log scale, but got low={brief(low)}.")


def _is_finite(number: SupportsFloat) -> bool:
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
        raise DataError(f"A value must be a number in [{low}, {high}], but got {brief(value)}.")
    return number


def _scaled(low: float, high: float, at: float, *, log: bool) -> tuple[float, float, float]:
    return (math.log(low), math.log(high), math.log(at)) if log else (low, high, at)
