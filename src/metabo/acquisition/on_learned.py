"""Any acquisition function, on the learned view of the belief."""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition.base import AcquisitionFunction, Slopes, climbable, slopes_of
from metabo.shapes import Float
from metabo.state import Belief


@dataclass(frozen=True)
class OnLearned:
    """An AF that takes mean and deviation from the learned prior instead of the plain one."""

    af: AcquisitionFunction
    """The AF, such as `EI()`."""

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return self.af(belief.by_learned)

    @property
    def ascent(self) -> AcquisitionFunction:
        """The equivalent to climb instead, on the learned view too."""
        return OnLearned(climbable(self.af))

    def slopes(self, belief: Belief) -> Slopes:
        """Return the scores and their derivatives, which are those of the AF by another name."""
        at = slopes_of(self.af)(belief.by_learned)
        zero = torch.zeros_like(at.mean)
        return Slopes(at.score, zero, zero, at.x, at.mean, at.std)
