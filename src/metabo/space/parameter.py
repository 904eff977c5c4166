"""Types of parameters, and how their values map to coordinates of the unit cube.

A `Float` and an `Int` take one coordinate each, a `Choice` takes one per value (one-hot). An `Int`
with n values divides its coordinate into n cells, and its values lie at their centres, so that
uniform points decode to uniform integers, end values included. On a log scale the cells divide the
logarithm.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import ClassVar

import torch
from torch import Tensor

from metabo.errors import DataError, OptionError, brief, unknown
from metabo.space.values import Value, can_be_chosen, check_interval, number_in, scaled, to_plain

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
        _set(self, low=to_plain(self.low), high=to_plain(self.high))
        check_interval(self.low, self.high, log=self.log)
        _set(self, low=float(self.low), high=float(self.high), log=bool(self.log))
        low, high, _ = scaled(self.low, self.high, self.low, log=self.log)
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
        return number_in(value, self.low, self.high)

    def encode(self, value: object) -> list[float]:
        """Return the coordinate of a value.

        Raises:
            DataError: If it is not a number in [low, high].
        """
        number = number_in(value, self.low, self.high)
        low, high, at = scaled(self.low, self.high, number, log=self.log)
        return [(at - low) / (high - low)]

    def decode(self, coordinates: Tensor) -> Value:
        """Return the value at a coordinate."""
        low, high, _ = scaled(self.low, self.high, self.low, log=self.log)
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
        _set(self, low=to_plain(self.low), high=to_plain(self.high))
        check_interval(self.low, self.high, log=self.log)
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
        number = number_in(value, self.low, self.high)
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
        return scaled(self.low - 0.5, self.high + 0.5, number, log=self.log)

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
        _set(self, values=tuple(map(to_plain, self.values)))
        for value in self.values:
            if not can_be_chosen(value):
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
        plain = to_plain(value)
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
