"""The GP prior of a run's model, and the scale in which the model sees the values."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from metabo.policies import Informed, Policy, RandomSearch
from metabo.pretrained import TrainedAF
from metabo.shapes import Float

MOST_GROWN = 500
"""Largest number of observations that a GP with a fixed prior adds row by row, as a rollout."""
_log = logging.getLogger(__name__)


@runtime_checkable
class Surrogate(Protocol):
    """Determines the prior after some observations, and scales the values for it."""

    @property
    def source(self) -> str:
        """The origin of the prior, in words."""
        ...

    @property
    def argument(self) -> Prior | PriorName | None:
        """The value of the option `prior` that gives this surrogate; None if no GP is used."""
        ...

    @property
    def is_informed(self) -> bool:
        """Whether the prior has a part that was learned from past tasks."""
        ...

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """Return the prior after these observations, and the values in the model's scale."""
        ...

    def scale(self, values: Sequence[float]) -> tuple[float, float] | None:
        """Return the value that the model sees as 0, and the difference that it sees as 1.

        The result is None if the values do not determine it: a fitted prior needs two different
        values.
        """
        ...


@dataclass(frozen=True, eq=False)
class Fixed:
    """A prior that does not change; the model sees values as they are told."""

    prior: Prior
    """The prior of the whole run."""
    kind: Literal["artifact", "given", "unused"]
    """Whether the prior is the artifact's, was given, or is not used."""

    @property
    def source(self) -> str:
        """The origin of the prior, in words."""
        return {
            "artifact": "the artifact's own, with values as told",
            "given": "as given, with values as told",
            "unused": "not used by random search",
        }[self.kind]

    @property
    def argument(self) -> Prior | PriorName | None:
        """The prior if it was given, `artifact` if it is the artifact's, None if it is unused."""
        if self.kind == "given":
            return self.prior
        return "artifact" if self.kind == "artifact" else None

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """Return the prior and the values unchanged."""
        return self.prior, list(values)

    @property
    def is_informed(self) -> bool:
        """Whether the prior has a part that was learned from past tasks."""
        return self.prior.learned is not None

    def scale(self, values: Sequence[float]) -> tuple[float, float] | None:
        """Return the scale of unchanged values; None if no GP is used."""
        return None if self.kind == "unused" else (0.0, 1.0)


@dataclass(frozen=True)
class Fitted:
    """A Matern-5/2 prior fitted by MAP to the standardized values of each history."""

    dim: int
    """Number of coordinates."""

    @property
    def source(self) -> str:
        """The origin of the prior, in words."""
        return (
            "fitted to the history (MAP), with standardized values (a default before "
            f"{least_to_fit(self.dim)} observations)"
        )

    @property
    def argument(self) -> Prior | PriorName | None:
        """The option `fitted`."""
        return "fitted"

    @property
    def is_informed(self) -> bool:
        """False: hyperparameters are fitted to the run itself."""
        return False

    def model(self, x: Float[Tensor, "t D"], values: Sequence[float]) -> tuple[Prior, list[float]]:
        """Return the fitted prior, and the values with mean 0 and standard deviation 1."""
        y = standardized(torch.tensor([values], dtype=x.dtype))
        return fitted_prior(x[None], y), y[0].tolist()

    def scale(self, values: Sequence[float]) -> tuple[float, float] | None:
        """Return the mean of the values and their standard deviation."""
        largest = max(map(abs, values), default=0.0) or 1.0
        # As in `standardized`: the squares of very large values would leave the range of floats.
        y = torch.tensor(values, dtype=torch.float64) / largest
        deviation = float(y.std(correction=0)) if len(values) else 0.0
        return (float(y.mean()) * largest, deviation * largest) if deviation > 1e-15 else None


def is_made_at_once(model: Surrogate, n_told: int) -> bool:
    """Tell whether the GP is computed from all observations at once, not one after the other.

    A fitted prior changes with every observation. With a fixed prior, adding observations one by
    one repeats a rollout bit for bit, but it moves t^3 numbers through memory when a long journal
    is opened: 5 s for 1,000 observations.
    """
    return n_told > (0 if isinstance(model, Fitted) else MOST_GROWN)


def described(model: Surrogate, n_told: int) -> str:
    """Describe the origin of the prior, and how much of a long history the GP sees."""
    is_used = not (isinstance(model, Fixed) and model.kind == "unused")
    if n_told <= reduction.MOST_SEEN or not is_used:
        return model.source
    return f"{model.source}; {_what_is_seen(n_told)}"


def say_once(n_before: int, n_now: int) -> None:
    """Log that the GP no longer sees all observations, when that first happens."""
    if n_before <= reduction.MOST_SEEN < n_now:
        _log.info("From now on %s.", _what_is_seen(n_now))


def surrogate(
    prior: Prior | PriorName | None, artifact: TrainedAF | None, policy: Policy, dim: int
) -> Surrogate:
    """Build the surrogate that the option `prior` asks for.

    None means the artifact's prior if it has one of this dimension, and `fitted` otherwise: an
    artifact for any dimension was trained with the prior of each task and has no prior itself.
    Random search needs no prior.

    Raises:
        ShapeError: If a given prior has a different dimension.
        OptionError: If the artifact's prior is asked for and there is none.
    """
    if isinstance(prior, Prior):
        if prior.dim != dim:
            raise ShapeError(
                f"`prior` must have a lengthscale for each of {dim} coordinates (a `Choice` takes "
                f"one per value), but has {prior.dim}."
            )
        if isinstance(policy, Informed):
            prior = replace(prior, learned=policy.part)
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
