"""Which GP prior a run's model has, and in which scale it sees the values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from metabo.errors import OptionError, ShapeError, unknown
from metabo.gp import Prior, fit
from metabo.gp.fit import Bounds
from metabo.policies import Policy, RandomSearch
from metabo.pretrained import TrainedAF
from metabo.shapes import Float

PriorName = Literal["artifact", "fitted"]
_BOUNDS = Bounds(
    lengthscale=(0.05, 10.0),
    signal=(0.05, 20.0),
    noise=(1e-8, 0.1),
    start_lengthscale=(0.1, 2.0),
    start_signal=(1.0, 5.0),
    start_noise=(1e-6, 1e-2),
)
"""A handful of points is explained best by extremes: noise only, or a lengthscale as long or as
short as allowed. These keep to what a run can use."""


@runtime_checkable
class Surrogate(Protocol):
    """Gives the prior for what was observed, and the values in its scale."""

    @property
    def source(self) -> str:
        """Where the prior comes from, in words."""
        ...

    @property
    def record(self) -> dict[str, object]:
        """What a journal keeps of it."""
        ...

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """The prior after these observations, and the values as the model is to see them."""
        ...


@dataclass(frozen=True, eq=False)
class Fixed:
    """A prior that does not change, with values as they are told."""

    prior: Prior
    kind: Literal["artifact", "given", "unused"]

    @property
    def source(self) -> str:
        """Where the prior comes from."""
        return {
            "artifact": "the artifact's own, with values as told",
            "given": "as given, with values as told",
            "unused": "not used by random search",
        }[self.kind]

    @property
    def record(self) -> dict[str, object]:
        """The numbers, unless the artifact has them."""
        numbers = self.prior.record() if self.kind == "given" else {}
        return {"kind": self.kind, **numbers}

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """The prior, and the values as they are."""
        return self.prior, list(values)


@dataclass(frozen=True)
class Fitted:
    """The likeliest Matern-5/2 prior of standardized values, found anew for every history."""

    dim: int

    @property
    def source(self) -> str:
        """How the prior is found."""
        return (
            "fitted to the history by maximum likelihood, with standardized values (a default "
            f"before {self.least} observations)"
        )

    @property
    def record(self) -> dict[str, object]:
        """There is nothing to choose."""
        return {"kind": "fitted"}

    @property
    def least(self) -> int:
        """Observations below which there is too little to fit."""
        return max(3, self.dim + 1)

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """The fitted prior, and the values with mean 0 and deviation 1."""
        y = standardized(values)
        if len(y) < self.least:
            return default_prior(self.dim), y
        data = x[None], torch.tensor([y], dtype=x.dtype)
        prior = fit(
            *data,
            kernel="matern52",
            bounds=_BOUNDS,
            n_starts=32,
            n_climbs=2,
            iterations=60,
            tolerance=0.05,
        )
        return prior, y


def default_prior(dim: int) -> Prior:
    """What is assumed of standardized values before a prior can be fitted."""
    return Prior.of([0.5] * dim, signal_variance=1.0, noise_variance=1e-6, kernel="matern52")


def standardized(values: Sequence[float]) -> list[float]:
    """The values with mean 0 and deviation 1; equal ones become 0."""
    largest = max((abs(value) for value in values), default=0.0)
    if largest == 0.0:
        return [0.0] * len(values)
    # Divided by the largest first: the squares of very large or small values would leave the
    # range of floats.
    scaled = [value / largest for value in values]
    mean = math.fsum(scaled) / len(scaled)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in scaled) / len(scaled))
    if deviation <= 1e-15:
        return [0.0] * len(values)
    return [(value - mean) / deviation for value in scaled]


def surrogate(prior: object, artifact: TrainedAF | None, policy: Policy, dim: int) -> Surrogate:
    """The surrogate that the argument `prior` of an optimizer asks for.

    None means the artifact's own prior where there is one for so many dimensions, else `fitted`;
    random search needs none.
    """
    if isinstance(prior, Prior):
        if prior.dim != dim:
            raise ShapeError(
                f"`prior` must have a lengthscale for each of {dim} coordinates (a `Choice` takes "
                f"one per value), but has {prior.dim}."
            )
        return Fixed(prior, "given")
    if prior is None:
        if isinstance(policy, RandomSearch):
            return Fixed(default_prior(dim), "unused")
        own = None if artifact is None else artifact.prior
        return Fitted(dim) if own is None or own.dim != dim else Fixed(own, "artifact")
    if prior == "fitted":
        return Fitted(dim)
    if prior != "artifact":
        raise unknown("prior", str(prior), ("artifact", "fitted"))
    if artifact is None or artifact.prior.dim != dim:
        raise OptionError(
            f"There is no artifact with a GP prior for {dim} coordinates. Give `prior='fitted'` "
            "or a `Prior`."
        )
    return Fixed(artifact.prior, "artifact")
