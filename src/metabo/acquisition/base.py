"""The acquisition function (AF) protocol, and how AFs are differentiated."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from metabo.shapes import Float
from metabo.state import Belief


@runtime_checkable
class AcquisitionFunction(Protocol):
    """A pure function that scores points by the model's belief about them; larger is better."""

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point of the belief."""
        ...


@runtime_checkable
class HasAscent(Protocol):
    """An AF with an equivalent that has the same maxima and better gradients."""

    @property
    def ascent(self) -> AcquisitionFunction:
        """The equivalent to climb instead, such as log EI for EI."""
        ...


def climbable(af: AcquisitionFunction) -> AcquisitionFunction:
    """Return the function to climb in order to maximize `af`.

    Returns:
        `af.ascent` if there is one, else `af` itself.

    Examples:
        >>> from metabo.acquisition import EI, UCB
        >>> climbable(EI()), climbable(UCB(4.0)).beta
        (LogEI(), 4.0)
    """
    return af.ascent if isinstance(af, HasAscent) else af


class Slopes(NamedTuple):
    """Scores, and their derivatives with respect to the mean, std and x of each point."""

    score: Float[Tensor, "E N"]
    """Score of each point."""
    mean: Float[Tensor, "E N"]
    """Derivative of the score with respect to the posterior mean."""
    std: Float[Tensor, "E N"]
    """Derivative of the score with respect to the posterior standard deviation."""
    x: Float[Tensor, "E N D"]
    """Derivative of the score with respect to the point itself, at fixed mean and std."""
    learned_mean: Float[Tensor, "E N"] | None = None
    """Derivative with respect to the learned view's mean; None if the score does not use it."""
    learned_std: Float[Tensor, "E N"] | None = None
    """Derivative with respect to the learned view's standard deviation."""


@runtime_checkable
class HasSlopes(Protocol):
    """An AF that computes its own derivatives, faster than autograd would."""

    def slopes(self, belief: Belief, /) -> Slopes:
        """Score every point of the belief and differentiate the scores."""
        ...


def slopes_of(af: AcquisitionFunction) -> Callable[[Belief], Slopes]:
    """Return a function that scores and differentiates: the AF's own `slopes`, else autograd."""
    if isinstance(af, HasSlopes):
        return af.slopes

    def slopes(belief: Belief) -> Slopes:
        with torch.inference_mode(mode=False), torch.enable_grad():
            # Copies, because autograd cannot save tensors created in inference mode.
            copy = belief.copy()
            view = () if copy.learned is None else (copy.learned.mean, copy.learned.std)
            leaves = [q.requires_grad_() for q in (copy.mean, copy.std, copy.x, *view)]
            score = af(copy)
            derivatives = torch.autograd.grad(score.sum(), leaves, materialize_grads=True)
        return Slopes(score.detach(), *derivatives)

    return slopes
