"""Conversion between Optuna's distributions and metabo's parameters.

A parameter with a step becomes a whole number of steps. Choices that metabo cannot distinguish or
write down are represented by their index.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from metabo.errors import OptionError
from metabo.space import Choice, Float, Int, Parameter, Space, Value

Params = Mapping[str, Any]
"""Values by name, as in Optuna; a choice may be any object."""


@dataclass(frozen=True)
class Codec:
    """Converts the values of a distribution to those of a parameter, and back."""

    distribution: BaseDistribution
    """Optuna's distribution."""
    parameter: Parameter
    """The parameter of metabo."""
    is_counted: bool
    """Whether metabo sees the index of a step or choice instead of the value."""

    @classmethod
    def of(cls, distribution: BaseDistribution) -> "Codec":
        """Build the codec of a distribution.

        Raises:
            OptionError: If metabo has no such parameter.
        """
        if isinstance(distribution, CategoricalDistribution):
            return cls._of_choices(distribution)
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        low, high, step = distribution.low, distribution.high, distribution.step
        if isinstance(distribution, FloatDistribution) and step is None:
            return cls(distribution, Float(low, high, distribution.log), is_counted=False)
        if isinstance(distribution, IntDistribution) and (step == 1 or distribution.log):
            whole = Int(int(low), int(high), distribution.log)
            return cls(distribution, whole, is_counted=False)
        return cls(distribution, Int(0, round((high - low) / step)), is_counted=True)

    @classmethod
    def _of_choices(cls, distribution: CategoricalDistribution) -> "Codec":
        choices = tuple(distribution.choices)
        is_plain = all(choice == choice for choice in choices)  # NaN is not
        try:
            if is_plain:
                return cls(distribution, Choice(choices), is_counted=False)
        except OptionError:
            pass
        return cls(distribution, Choice(tuple(range(len(choices)))), is_counted=True)

    def encode(self, value: object) -> object:
        """Convert Optuna's value to metabo's."""
        if not self.is_counted:
            return value
        internal = self.distribution.to_internal_repr(value)
        if isinstance(self.distribution, CategoricalDistribution):
            return int(internal)
        return round((internal - self.distribution.low) / self.distribution.step)

    def decode(self, value: Value) -> object:
        """Convert metabo's value to Optuna's."""
        if not self.is_counted:
            return value
        assert isinstance(value, int)
        if isinstance(self.distribution, CategoricalDistribution):
            return self.distribution.to_external_repr(value)
        # Rounding may slightly exceed the upper end.
        at = min(self.distribution.low + value * self.distribution.step, self.distribution.high)
        return int(at) if isinstance(self.distribution, IntDistribution) else float(at)


@dataclass(frozen=True)
class SearchSpace:
    """Several distributions as a space of metabo."""

    codecs: Mapping[str, Codec]
    """The codec of each parameter, by name."""

    @classmethod
    def of(cls, distributions: Mapping[str, BaseDistribution]) -> "SearchSpace":
        """Build the search space of these distributions, in this order."""
        return cls({name: Codec.of(one) for name, one in distributions.items()})

    @cached_property
    def space(self) -> Space:
        """The space for an `Optimizer`."""
        return Space({name: codec.parameter for name, codec in self.codecs.items()})

    def contains(self, params: Params) -> bool:
        """Tell whether every parameter has a value in its bounds; enqueued ones may be outside."""
        return all(name in params and _holds(c, params[name]) for name, c in self.codecs.items())

    def encode(self, params: Params) -> dict[str, object]:
        """Convert Optuna's values to metabo's; other parameters are left out."""
        return {name: codec.encode(params[name]) for name, codec in self.codecs.items()}

    def decode(self, params: Mapping[str, Value]) -> dict[str, Any]:
        """Convert metabo's values to Optuna's."""
        return {name: codec.decode(params[name]) for name, codec in self.codecs.items()}


def distributions_of(space: Space) -> dict[str, BaseDistribution]:
    """Convert a space of metabo to Optuna's distributions."""
    return {name: _distribution(parameter) for name, parameter in space.parameters.items()}


def is_known(distribution: BaseDistribution) -> bool:
    """Tell whether metabo has such a parameter; it has none for a single value."""
    if distribution.single():
        return False
    try:
        Codec.of(distribution)
    except OptionError:
        return False
    return True


def _distribution(parameter: Parameter) -> BaseDistribution:
    if isinstance(parameter, Choice):
        return CategoricalDistribution(parameter.values)
    kind = FloatDistribution if isinstance(parameter, Float) else IntDistribution
    return kind(parameter.low, parameter.high, log=parameter.log)


def _holds(codec: Codec, value: object) -> bool:
    try:
        internal = codec.distribution.to_internal_repr(value)
    except ValueError:
        return False
    return not math.isnan(internal) and bool(codec.distribution._contains(internal))
