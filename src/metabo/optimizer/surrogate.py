"""Which GP prior a run's model has, and in which scale it sees the values."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from metabo.choices import PriorName as PriorName
from metabo.errors import OptionError, ShapeError
from metabo.gp import (
    Prior,
    default_prior,
    fitted_prior,
    least_to_fit,
    reduction,
    standardized,
)
from metabo.policies import Policy, RandomSearch
from metabo.pretrained import TrainedAF
from metabo.shapes import Float

MOST_GROWN = 500
"""Observations up to which a GP with a fixed prior is grown row by row, as in a rollout."""
_log = logging.getLogger(__name__)


@runtime_checkable
class Surrogate(Protocol):
    """Gives the prior for what was observed, and the values in its scale."""

    @property
    def source(self) -> str:
        """Where the prior comes from, in words."""
        ...

    @property
    def argument(self) -> Prior | PriorName | None:
        """The option `prior` that stands for it, all chosen; None where no GP is used."""
        ...

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """The prior after these observations, and the values as the model is to see them."""
        ...

    def scale(self, values: Sequence[float]) -> tuple[float, float] | None:
        """The value that the model sees as 0, and the difference that it sees as 1.

        None where the values do not say: a fitted prior needs two different ones.
        """
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
    def argument(self) -> Prior | PriorName | None:
        """The prior itself, unless the artifact has it or nothing uses it."""
        if self.kind == "given":
            return self.prior
        return "artifact" if self.kind == "artifact" else None

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """The prior, and the values as they are."""
        return self.prior, list(values)

    def scale(self, values: Sequence[float]) -> tuple[float, float] | None:
        """The model sees the values as they are."""
        return None if self.kind == "unused" else (0.0, 1.0)


@dataclass(frozen=True)
class Fitted:
    """The MAP Matern-5/2 prior of standardized values, found anew for every history."""

    dim: int

    @property
    def source(self) -> str:
        """How the prior is found."""
        return (
            "fitted to the history (MAP), with standardized values (a default before "
            f"{least_to_fit(self.dim)} observations)"
        )

    @property
    def argument(self) -> Prior | PriorName | None:
        """There is nothing to choose."""
        return "fitted"

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """The fitted prior, and the values with mean 0 and deviation 1."""
        y = standardized(torch.tensor([values], dtype=x.dtype))
        return fitted_prior(x[None], y), y[0].tolist()

    def scale(self, values: Sequence[float]) -> tuple[float, float] | None:
        """The mean of the values and their standard deviation."""
        largest = max(map(abs, values), default=0.0) or 1.0
        # As in `standardized`: the squares of very large values would leave the range of floats.
        y = torch.tensor(values, dtype=torch.float64) / largest
        deviation = float(y.std(correction=0)) if len(values) else 0.0
        return (float(y.mean()) * largest, deviation * largest) if deviation > 1e-15 else None


def is_made_at_once(model: Surrogate, n_told: int) -> bool:
    """Whether the GP is made of all observations at once, not grown by one after the other.

    A fitted prior changes with every observation. With a fixed one growing repeats a rollout to
    the bit, but when a long journal is opened it would take t^3 numbers through memory: 5 s for
    1,000 observations.
    """
    return n_told > (0 if isinstance(model, Fitted) else MOST_GROWN)


def described(model: Surrogate, n_told: int) -> str:
    """Where the prior comes from, and how much of a long history the GP sees."""
    is_used = not (isinstance(model, Fixed) and model.kind == "unused")
    if n_told <= reduction.MOST_SEEN or not is_used:
        return model.source
    return f"{model.source}; {_what_is_seen(n_told)}"


def say_once(n_before: int, n_now: int) -> None:
    """Log that the GP does not see all observations, when that begins."""
    if n_before <= reduction.MOST_SEEN < n_now:
        _log.info("From now on %s.", _what_is_seen(n_now))


def surrogate(
    prior: Prior | PriorName | None, artifact: TrainedAF | None, policy: Policy, dim: int
) -> Surrogate:
    """The surrogate that the option `prior` asks for.

    None means the artifact's own prior where it has one of this dimension, and `fitted` otherwise:
    an artifact for any dimension was trained with the prior of each task and has none of its own.
    Random search needs none.

    Raises:
        ShapeError: If a prior is of another dimension.
        OptionError: If the artifact's prior is asked for and there is none.
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
        if artifact is None or artifact.architecture.is_for_any_dimension:
            return Fitted(dim)
        own = artifact.prior
        return Fixed(own, "artifact") if own.dim == dim else Fitted(dim)
    if prior == "fitted":
        return Fitted(dim)
    if artifact is None or artifact.prior.dim != dim:
        raise OptionError(
            f"There is no artifact with a GP prior for {dim} coordinates. Give `prior='fitted'` "
            "or a `Prior`.",
            shell=f"There is no artifact with a GP prior for {dim} coordinates. Give `--prior "
            "fitted`.",
        )
    return Fixed(artifact.prior, "artifact")


def _what_is_seen(n_told: int) -> str:
    return (
        f"the GP sees {reduction.MOST_SEEN:,} of {n_told:,} observations (the nearest to the best "
        "one and a spread of the rest)"
    )
