"""The two views of a point: that of the plain GP, and that of the mixture with a learned prior.

The *learned view* is the mean and deviation of the mixture of all cells and the plain GP. The
weight of the plain GP in it, the *guard*, rises towards 1 on a task unlike the sources.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from metabo.gp.learned_posterior import LearnedGP, Weighed
from metabo.gp.posterior import GP
from metabo.shapes import Float

ViewsPullback = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""Map derivatives in mean and std, plain then learned, `E N`, to those of the points, `E N D`."""


@dataclass(frozen=True)
class Views:
    """What the plain GP and the mixture with the learned part say about points."""

    mean: Float[Tensor, "E N"]
    """Mean of the plain GP."""
    std: Float[Tensor, "E N"]
    """Deviation of the plain GP."""
    learned_mean: Float[Tensor, "E N"]
    """Mean of the mixture."""
    learned_std: Float[Tensor, "E N"]
    """Deviation of the mixture."""


@dataclass(frozen=True)
class Mixture:
    """The mixture of the cells of a learned prior and the plain GP."""

    plain: GP
    """Posteriors under the plain prior."""
    learned: LearnedGP
    """Posteriors of all cells."""
    probabilities: Float[Tensor, "E W"]
    """Probability of each cell, that of the plain GP last."""

    @classmethod
    def by_evidence(cls, plain: GP, learned: LearnedGP) -> "Mixture":
        """Return the mixture with the posterior probabilities given the observations."""
        return cls(plain, learned, learned.probabilities(plain))

    @property
    def guard(self) -> Float[Tensor, " E"]:
        """Probability of the plain GP."""
        return self.probabilities[:, -1]

    def views(self, x: Float[Tensor, "E N D"]) -> tuple[Views, ViewsPullback]:
        """Return both views of the points `x`, and a function from derivatives in them to `x`."""
        mean, std, pull_plain = self.plain.predict_with_pullback(x)
        of_cells, of_plain = self._weighed.p.unsqueeze(-1), self.guard.unsqueeze(-1)
        means, within, pull_cells = self.learned.predict_with_pullback(x, self._weighed)
        centre = (of_cells * means).sum(1) + of_plain * mean
        apart, apart_plain = means - centre.unsqueeze(1), mean - centre
        variance = within + (of_cells * apart.square()).sum(1)
        variance = variance + of_plain * (std.square() + apart_plain.square())
        mixed = variance.sqrt()

        def pullback(d_mean: Tensor, d_std: Tensor, d_centre: Tensor, d_mixed: Tensor) -> Tensor:
            d_variance = d_mixed / (2 * mixed)
            slope = d_centre.unsqueeze(1) + 2 * apart * d_variance.unsqueeze(1)
            total = pull_cells(of_cells * slope, d_variance)
            d_mean = d_mean + of_plain * (d_centre + 2 * apart_plain * d_variance)
            return total + pull_plain(d_mean, d_std + of_plain * 2 * std * d_variance)

        return Views(mean, std, centre, mixed), pullback

    @cached_property
    def _weighed(self) -> Weighed:
        with torch.inference_mode(mode=False):  # cached, so it must be usable outside of it too
            return self.learned.weighed(self.probabilities[:, :-1])
