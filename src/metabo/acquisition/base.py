"""What an acquisition function (AF) is."""

from typing import Protocol, runtime_checkable

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
