"""Fewer observations for long runs: those nearest to the best one, and a spread of the rest.

An exact GP costs t^3 time and t^2 memory, so beyond some number of observations it sees only a
part of them. Half of that part are the nearest neighbours of the best observation, where a run
closes in and details matter. The other half are chosen one by one, each as far as possible from
those before it (the greedy farthest-point rule, beginning at the best observation): wherever
something was observed the GP still knows of an observation nearby. In clusters of near-duplicates,
where further points tell nothing, hardly any are kept.
"""

import torch
from torch import Tensor

from metabo.gp.prior import Prior
from metabo.shapes import Float, Int

MOST_SEEN = 1000
"""Observations up to which the GP sees them all."""
MOST_FITTED = 300
"""Observations up to which hyperparameters are fitted to all of them.

A fit evaluates the likelihood up to 150 times: on one core 0.5 s with 300 observations, 1.4 s
with 500, 7 s with 1,000. In many dimensions it takes as many observations as there must be to fit.
"""


def reduced(
    prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"]
) -> tuple[Float[Tensor, "E n D"], Float[Tensor, "E n"]]:
    """The observations that a GP with this prior sees: `MOST_SEEN` of them at most."""
    return _taken(x, y, prior.lengthscale, MOST_SEEN)


def to_fit(
    x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"], least: int
) -> tuple[Float[Tensor, "E n D"], Float[Tensor, "E n"]]:
    """What hyperparameters are to be fitted to; there are no lengthscales yet to measure with."""
    return _taken(x, y, x.new_ones(1, x.shape[-1]), max(MOST_FITTED, least))


def representatives(
    x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"], n: int
) -> Int[Tensor, "E n"]:
    """The numbers of `n` observations, ascending; the best one is always among them."""
    rows = torch.arange(x.shape[0], device=x.device)
    last = y.argmax(-1)  # E
    far = (x - x[rows, last].unsqueeze(1)).square().sum(-1)
    near = far.scatter(1, last[:, None], -1.0).topk(-(-n // 2), largest=False).indices
    chosen = [near]
    far = far.scatter(1, near, -torch.inf)  # never again
    norm = x.square().sum(-1)
    for _ in range(n - near.shape[1]):
        last = far.argmax(-1)
        chosen.append(last[:, None])
        # |x|^2 - 2 x c + |c|^2 is one pass over x. What it loses of small distances does not
        # matter here.
        centre = x[rows, last]
        apart = norm - 2 * torch.bmm(x, centre.unsqueeze(-1))[..., 0] + norm[rows, last, None]
        far = torch.minimum(far, apart).scatter(1, last[:, None], -torch.inf)
    return torch.cat(chosen, 1).sort(-1).values


def _taken(x: Tensor, y: Tensor, lengthscale: Tensor, n: int) -> tuple[Tensor, Tensor]:
    if x.shape[1] <= n:
        return x, y
    index = representatives(x / lengthscale.unsqueeze(-2), y, n)
    return x.gather(1, index[..., None].expand(-1, -1, x.shape[-1])), y.gather(1, index)
