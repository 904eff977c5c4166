"""The two views of a point: that of the plain GP, and that of the mixture with a learned prior.

The *learned view* is the mean and deviation of the mixture of all cells and the plain GP. The
weight of the plain GP in it, the *guard*, rises towards 1 on a task unlike the sources.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from metabo.gp.learned_posterior import LearnedGP
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


def views(
    plain: GP, learned: LearnedGP, probabilities: Float[Tensor, "E W"], x: Float[Tensor, "E N D"]
) -> tuple[Views, ViewsPullback]:
    """Return both views of the points `x`, and a function from derivatives in them to `x`."""
    mean, std, pull_plain = plain.predict_with_pullback(x)
    p, of_plain = probabilities[:, :-1], probabilities[:, -1:]
    of_cells = p.unsqueeze(-1)  # E C 1
    means, within, pull_cells = learned.predict_with_pullback(x, p)
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
