"""A subset of the observations for long runs: the nearest to the best one, and a spread of others.

An exact GP costs t^3 time and t^2 memory, so beyond some number of observations it sees only a
subset. Half of it are the nearest neighbours of the best observation, where a run converges and
details matter. The other half are chosen one by one, each as far as possible from those before it
(greedy farthest-point selection, starting at the best observation): the GP then has an observation
near every observed point. Clusters of near-duplicates, which add no information, are thinned out.
"""

import torch
from torch import Tensor

from metabo.gp.prior import Prior
from metabo.shapes import Float, Int

MOST_SEEN = 1000
"""Largest number of observations that the GP sees."""
MOST_FITTED = 300
"""Largest number of observations that hyperparameters are fitted to.

A fit evaluates the likelihood up to 150 times: on one core 0.5 s with 300 observations, 1.4 s
with 500, 7 s with 1,000. In many dimensions, where a fit needs more observations than this, it
uses that minimum.
"""


def reduced(
    prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"]
) -> tuple[Float[Tensor, "E n D"], Float[Tensor, "E n"]]:
    """Return the observations that a GP with this prior sees, `MOST_SEEN` at most.

    Examples:
        >>> prior = Prior.of([0.5], signal_variance=1.0, noise_variance=0.0)
        >>> x = torch.linspace(0, 1, 1200, dtype=torch.float64)[None, :, None]
        >>> reduced(prior, x, x[..., 0])[1].shape
        torch.Size([1, 1000])
    """
    return _taken(x, y, prior.lengthscale, MOST_SEEN)


def to_fit(
    x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"], least: int
) -> tuple[Float[Tensor, "E n D"], Float[Tensor, "E n"]]:
    """Return the observations to fit hyperparameters to, measuring distances in the unit cube."""
    return _taken(x, y, x.new_ones(1, x.shape[-1]), max(MOST_FITTED, least))


def representatives(
    x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"], n: int
) -> Int[Tensor, "E n"]:
    """Return the indices of `n` observations in ascending order, the best one among them."""
    rows = torch.arange(x.shape[0], device=x.device)
    last = y.argmax(-1)  # E
    far = (x - x[rows, last].unsqueeze(1)).square().sum(-1)
    near = far.scatter(1, last[:, None], -1.0).topk(-(-n // 2), largest=False).indices
    chosen = [near]
    far = far.scatter(1, near, -torch.inf)  # never chosen again
    norm = x.square().sum(-1)
    for _ in range(n - near.shape[1]):
        last = far.argmax(-1)
        chosen.append(last[:, None])
        # |x|^2 - 2 x c + |c|^2 takes one pass over x. The digits it loses of small distances do
        # not matter here.
        centre = x[rows, last]
        apart = norm - 2 * torch.bmm(x, centre.unsqueeze(-1))[..., 0] + norm[rows, last, None]
        far = torch.minimum(far, apart).scatter(1, last[:, None], -torch.inf)
    return torch.cat(chosen, 1).sort(-1).values


def _taken(x: Tensor, y: Tensor, lengthscale: Tensor, n: int) -> tuple[Tensor, Tensor]:
    if x.shape[1] <= n:
        return x, y
    index = representatives(x / lengthscale.unsqueeze(-2), y, n)
    return x.gather(1, index[..., None].expand(-1, -1, x.shape[-1])), y.gather(1, index)
