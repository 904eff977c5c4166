"""The mapping from named parameters to the unit cube and back, in this one place."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from metabo.domain import require_inside
from metabo.errors import DataError, OptionError, ShapeError, brief, listed, shown, unknown
from metabo.shapes import Float as Axes
from metabo.space.parameter import Float, Parameter
from metabo.space.values import Value, is_writable

MOST_COORDINATES = 5_000
"""Largest number of coordinates of a space.

With more, no search is useful, and memory grows with the square of the number.
"""
_LONGEST_NAME = 1_000


@dataclass(frozen=True)
class Space:
    """A search space: parameters by name, in order.

    Raises:
        OptionError: If there are no parameters, a name or parameter is not valid, or the space has
            more than 5,000 coordinates.

    Examples:
        >>> from metabo import Choice, Float, Space
        >>> space = Space({"dropout": Float(0, 0.8), "kind": Choice(("a", "b"))})
        >>> x = space.encode({"dropout": 0.2, "kind": "b"})
        >>> x.tolist()
        [0.25, 0.0, 1.0]
        >>> space.decode(x)
        {'dropout': 0.2, 'kind': 'b'}
    """

    parameters: Mapping[str, Parameter]
    """Parameters by name; the order of the names is the order of the coordinates."""

    def __post_init__(self) -> None:
        """Check the names and parameters, and copy the mapping."""
        if not isinstance(self.parameters, Mapping):
            raise OptionError(
                "A `Space` needs a mapping from names to parameters, such as "
                f"{{'x': metabo.Float(0, 1)}}, but got {brief(self.parameters)}."
            )
        if not self.parameters:
            raise OptionError("A `Space` needs at least one parameter, but got none.")
        for name, parameter in self.parameters.items():
            if not isinstance(name, str) or not isinstance(parameter, Parameter):
                raise OptionError(
                    "A `Space` maps names to `Float`, `Int` or `Choice`, but got "
                    f"{brief(name)}: {brief(parameter)}."
                )
            _check_name(name)
        object.__setattr__(self, "parameters", dict(self.parameters))
        if self.dim > MOST_COORDINATES:
            raise OptionError(
                f"A `Space` can have {MOST_COORDINATES} coordinates at most, but got {self.dim} "
                "(a `Choice` takes one per value, other parameters take one each). Leave "
                "parameters out, or turn a `Choice` of numbers into an `Int` or `Float`."
            )

    @classmethod
    def cube(cls, dim: int) -> "Space":
        """Return the unit cube as a space: parameters `x1` to `xD`, each in [0, 1]."""
        return cls({f"x{i + 1}": Float(0.0, 1.0) for i in range(dim)})

    @cached_property
    def dim(self) -> int:
        """Number of coordinates in the unit cube; a `Choice` takes one per value."""
        return sum(p.n_coordinates for p in self.parameters.values())

    @property
    def size(self) -> int | None:
        """Number of points; None if a `Float` makes it infinite."""
        levels = [p.levels for p in self.parameters.values() if p.levels is not None]
        return math.prod(levels) if len(levels) == len(self.parameters) else None

    def clean(self, values: Mapping[str, object]) -> dict[str, Value]:
        """Check a full set of named values.

        Returns:
            The values in the space's order, as plain floats, ints and choices.

        Raises:
            DataError: If a value is missing or not allowed.
            OptionError: If a name is not a parameter of the space.
        """
        if not isinstance(values, Mapping):
            raise DataError(
                f"Values must be given by name, such as {{'x': 0.5}}, but got {brief(values)}."
            )
        for name in values:
            if name not in self.parameters:
                raise unknown("parameter", _text(name), self.parameters)
        cleaned: dict[str, Value] = {}
        for name, parameter in self.parameters.items():
            if name not in values:
                raise DataError(
                    f"Parameter `{shown(name)}` is missing. "
                    f"Give a value for each of {listed(self.parameters)}."
                )
            try:
                cleaned[name] = parameter.clean(values[name])
            except (DataError, OptionError) as error:
                raise DataError(f"Parameter `{shown(name)}`: {error}") from None
        return cleaned

    def encode(self, values: Mapping[str, object]) -> Axes[Tensor, " D"]:
        """Return the point of the unit cube for a full set of named values.

        Raises:
            DataError: If a value is missing or not allowed.
            OptionError: If a name is not a parameter of the space.
        """
        coordinates: list[float] = []
        for name, value in self.clean(values).items():
            coordinates += self.parameters[name].encode(value)
        return torch.tensor(coordinates, dtype=torch.float64)

    def decode(self, x: Axes[Tensor, " D"]) -> dict[str, Value]:
        """Return the named values at a point of the unit cube.

        Raises:
            ShapeError: If `x` is not a single point of the space's encoded dimension.
            DomainError: If it lies outside of the cube.
        """
        self._check(x)
        if x.ndim != 1:
            raise ShapeError(f"`decode` takes one point, but got shape {tuple(x.shape)}.")
        require_inside(x)
        parts = zip(self.parameters.items(), self.split(x), strict=True)
        return {name: parameter.decode(part) for (name, parameter), part in parts}

    def project(self, x: Axes[Tensor, "*n D"]) -> Axes[Tensor, "*n D"]:
        """Move points to the encodings of the values that would be evaluated there."""
        self._check(x)
        parts = zip(self.parameters.values(), self.split(x), strict=True)
        return torch.cat([parameter.project(part) for parameter, part in parts], -1)

    def split(self, x: Axes[Tensor, "*n D"]) -> tuple[Tensor, ...]:
        """Split points into the coordinates of each parameter."""
        return x.split([p.n_coordinates for p in self.parameters.values()], -1)

    def _check(self, x: Tensor) -> None:
        if x.shape[-1] != self.dim:
            raise ShapeError(
                f"`x` must end in an axis of size {self.dim} (the space's encoded dimension), "
                f"but got shape {tuple(x.shape)}."
            )


def _check_name(name: str) -> None:
    """Raise unless the name can be written to a file and passed on a command line."""
    if not is_writable(name) or "\0" in name or len(name) > _LONGEST_NAME:
        raise OptionError(
            f"The name of a parameter must be Unicode text of {_LONGEST_NAME} characters at most, "
            f"without NUL, but got `{shown(name)}`. Rename it."
        )


def _text(name: object) -> str:
    return name if isinstance(name, str) else brief(name)
