"""What an acquisition function (AF) is, and how one is differentiated."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from metabo.shapes import Float
from metabo.state import Belief


@runtime_checkable
class AcquisitionFunction(Protocol):
    """A pure function that scores points by what is believed about them; larger is better."""

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point of the belief."""
        ...


@runtime_checkable
class HasAscent(Protocol):
    """An AF with a sibling that has the same maxima and better gradients."""

    @property
    def ascent(self) -> AcquisitionFunction:
        """The sibling to climb instead, such as log EI for EI."""
        ...


def climbable(af: AcquisitionFunction) -> AcquisitionFunction:
    """What to climb in order to maximize `af`: its sibling where it has one, else itself."""
    return af.ascent if isinstance(af, HasAscent) else af


class Slopes(NamedTuple):
    """Scores, and their derivatives in the mean, the std and the x of each point."""

    score: Float[Tensor, "E N"]
    mean: Float[Tensor, "E N"]
    std: Float[Tensor, "E N"]
    x: Float[Tensor, "E N D"]


@runtime_checkable
class HasSlopes(Protocol):
    """An AF that knows its derivatives, for less than autograd takes to find them."""

    def slopes(self, belief: Belief, /) -> Slopes:
        """Score every point of the belief, and differentiate."""
        ...


def slopes_of(af: AcquisitionFunction) -> Callable[[Belief], Slopes]:
    """What differentiates the AF: its own method where it has one, else autograd."""
    if isinstance(af, HasSlopes):
        return af.slopes

    def slopes(belief: Belief) -> Slopes:
        with torch.inference_mode(mode=False), torch.enable_grad():
            # Copies, because autograd refuses to save tensors made in inference mode.
            copy = belief.copy()
            leaves = [q.requires_grad_() for q in (copy.mean, copy.std, copy.x)]
            score = af(copy)
            derivatives = torch.autograd.grad(score.sum(), leaves, materialize_grads=True)
        return Slopes(score.detach(), *derivatives)

    return slopes
