"""Types of parameters, and how their values map to coordinates of the unit cube.

A `Float` and an `Int` take one coordinate each, a `Choice` takes one per value (one-hot). An `Int`
with n values divides its coordinate into n cells, and its values lie at their centres, so that
uniform points decode to uniform integers, end values included. On a log scale the cells divide the
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
"""Value of one parameter."""

MOST = 2**50
"""Largest magnitude and span of an `Int`: up to here the bounds of its cells are exact floats."""
MOST_LOG = 2**40
"""Largest magnitude and span of an `Int` on a log scale.

Beyond it, neighbouring values would share a coordinate.
"""


@dataclass(frozen=True)
class Float:
    """A real parameter in [low, high].

    Raises:
        OptionError: If the bounds are not finite numbers with `low < high`, or `low` is not
            positive on a log scale.

    Examples:
        >>> from metabo import Float
        >>> rate = Float(1e-4, 1e-2, log=True)
        >>> [round(coordinate, 6) for coordinate in rate.encode(1e-3)]
        [0.5]
    """

    low: float
    """Smallest value."""
    high: float
    """Largest value."""
    log: bool = False
    """Whether the parameter is searched on a logarithmic scale."""

    n_coordinates: ClassVar[int] = 1
    """Number of coordinates in the unit cube."""
    levels: ClassVar[None] = None
    """Number of values; None because a real parameter has infinitely many."""

    def __post_init__(self) -> None:
        """Check the bounds and convert them to plain floats."""
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
        """Return the value as a plain float.

        Raises:
            DataError: If it is not a number in [low, high].
        """
        return _number(value, self.low, self.high)

    def encode(self, value: object) -> list[float]:
        """Return the coordinate of a value.

        Raises:
            DataError: If it is not a number in [low, high].
        """
        number = _number(value, self.low, self.high)
        low, high, at = _scaled(self.low, self.high, number, log=self.log)
        return [(at - low) / (high - low)]

    def decode(self, coordinates: Tensor) -> Value:
        """Return the value at a coordinate."""
        low, high, _ = _scaled(self.low, self.high, self.low, log=self.log)
        at = min(low + float(coordinates[0]) * (high - low), high)  # exp must not overflow
        return min(max(math.exp(at) if self.log else at, self.low), self.high)

    def project(self, coordinates: Tensor) -> Tensor:
        """Return the coordinates unchanged: each of them encodes a value."""
        return coordinates


@dataclass(frozen=True)
class Int:
    """A whole-number parameter in [low, high], both included.

    Raises:
        OptionError: If the bounds are not whole numbers with `low < high` within 2**50 (2**40 on a
            log scale), or `low` is not positive on a log scale.

    Examples:
        >>> from metabo import Int
        >>> layers = Int(1, 4)
        >>> layers.levels, layers.encode(1)
        (4, [0.125])
    """

    low: int
    """Smallest value."""
    high: int
    """Largest value."""
    log: bool = False
    """Whether the parameter is searched on a logarithmic scale."""

    n_coordinates: ClassVar[int] = 1
    """Number of coordinates in the unit cube."""

    def __post_init__(self) -> None:
        """Check the bounds and convert them to plain ints."""
        _set(self, low=_plain(self.low), high=_plain(self.high))
        _check_interval(self.low, self.high, log=self.log)
        low, high = int(self.low), int(self.high)
        if low != self.low or high != self.high:
            raise OptionError(
                "`Int` bounds must be whole numbers, but got "
                f"low={brief(self.low)}, high={brief(self.high)}. Use a `Float`."
            )
        most, power = (MOST_LOG, "2**40 on a log scale") if self.log else (MOST, "2**50")
        if max(-low, high, high - low) > most:
            raise OptionError(
                f"An `Int` must lie within {power} of 0 and span no more than that, but got "
                f"low={brief(low)}, high={brief(high)}. Use a `Float` or different units."
            )
        _set(self, low=low, high=high, log=bool(self.log))

    @property
    def levels(self) -> int:
        """Number of values."""
        return int(self.high - self.low) + 1

    def clean(self, value: object) -> Value:
        """Return the value as a plain int.

        Raises:
            DataError: If it is not a whole number in [low, high].
        """
        number = _number(value, self.low, self.high)
        if number != int(number):
            raise DataError(f"A value of an `Int` must be a whole number, but got {brief(value)}.")
        return int(number)

    def encode(self, value: object) -> list[float]:
        """Return the coordinate of a value: the centre of its cell, or its place on the log scale.

        Raises:
            DataError: If it is not a whole number in [low, high].
        """
        low, high, at = self._scaled(float(self.clean(value)))  # type: ignore[arg-type]
        return [(at - low) / (high - low)]

    def decode(self, coordinates: Tensor) -> Value:
        """Return the value in whose cell the coordinate lies."""
        return int(self._nearest(coordinates[:1]).item())

    def project(self, coordinates: Tensor) -> Tensor:
        """Move each coordinate to that of the value in whose cell it lies."""
        return self.shift(coordinates, 0)

    def shift(self, coordinates: Tensor, by: int) -> Tensor:
        """Return the coordinates of the values larger by `by`, kept inside the bounds."""
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
    """One of several values without an order.

    Raises:
        OptionError: If there are fewer than two values, a value is given twice, or a value is not
            a finite number, text, a boolean or None.

    Examples:
        >>> from metabo import Choice
        >>> kind = Choice(("adam", "sgd"))
        >>> kind.encode("sgd")
        [0.0, 1.0]
    """

    values: tuple[Value, ...]
    """The values, at least two, all different."""

    def __post_init__(self) -> None:
        """Check the values and convert those of NumPy to plain ones."""
        if not isinstance(self.values, list | tuple):
            raise OptionError(f"`Choice` needs a list of values, but got {brief(self.values)}.")
        _set(self, values=tuple(map(_plain, self.values)))
        for value in self.values:
            if not _can_be_chosen(value):
                raise OptionError(
                    "`Choice` values must be finite numbers, Unicode text, booleans or None, but "
                    f"got {brief(value)}. Write it as text, or number the choices."
                )
        if len(self.values) < 2 or len(self._positions) < len(self.values):
            raise OptionError(
                f"`Choice` needs at least two different values, but got {brief(self.values)}."
            )

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates in the unit cube: one per value."""
        return len(self.values)

    @property
    def levels(self) -> int:
        """Number of values."""
        return len(self.values)

    def clean(self, value: object) -> Value:
        """Return the value as it was declared.

        Raises:
            OptionError: If it is not one of the values.
        """
        return self.values[self._position(value)]

    def encode(self, value: object) -> list[float]:
        """Return the one-hot coordinates of a value.

        Raises:
            OptionError: If it is not one of the values.
        """
        coordinates = [0.0] * len(self.values)
        coordinates[self._position(value)] = 1.0
        return coordinates

    def decode(self, coordinates: Tensor) -> Value:
        """Return the value with the largest coordinate, the first if several are equal."""
        return self.values[int(coordinates.argmax())]

    def project(self, coordinates: Tensor) -> Tensor:
        """Set the largest coordinate to one and the others to zero."""
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
        # 1 == True in Python, but a user means different values.
        return {(isinstance(v, bool), v): i for i, v in enumerate(self.values)}


Parameter = Float | Int | Choice
"""One parameter of a `Space`."""


def _set(parameter: object, **fields: object) -> None:
    """Set fields of a frozen parameter during its construction."""
    for name, value in fields.items():
        object.__setattr__(parameter, name, value)


def _plain(value: object) -> object:
    """Convert a NumPy scalar to a Python one; return anything else unchanged."""
    if not isinstance(value, numpy.generic):
        return value
    plain = value.item()
    # `item` leaves a long double as it is.
    return float(plain) if isinstance(plain, numpy.floating) else plain


def _can_be_chosen(value: object) -> bool:
    """Tell whether a value survives being written to and read from JSON."""
    if isinstance(value, str):
        return is_writable(value)
    is_fraction = isinstance(value, Rational) and not isinstance(value, Integral)
    return value is None or (isinstance(value, Real) and not is_fraction and _is_finite(value))


def is_writable(text: str) -> bool:
    """Tell whether text can be written to a file or terminal: a lone surrogate cannot."""
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
            "`low < high` must hold, and both must be finite numbers, but got "
            f"low={brief(low)}, high={brief(high)}."
        )
    if not _is_finite(float(high) - float(low)):
        raise OptionError(
            f"`high - low` must be a finite number, but got low={brief(low)}, "
            f"high={brief(high)}. Use different units."
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
