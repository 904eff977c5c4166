"""Groups of similar sources: clusters of their coefficients, each with its own distribution.

Where there are many clusters, each has few members. Its mean and covariance are then those of the
sources nearest to its centre, so that neighbouring groups overlap.
"""

import torch
from torch import Tensor

from metabo.gp import Groups
from metabo.shapes import Float, Int

_ROUNDS = 50
"""Rounds of Lloyd's algorithm."""
_LEAST = 20
"""Number of sources that each group's mean and covariance are computed from, at least."""
_PSEUDO = 0.1
"""Weight of the pooled covariance in that of each group, in sources."""
_MOST_SPREAD = 16
"""Largest number of directions in which the sources of a group may differ."""


def grouped(
    coefficients: Float[Tensor, "M R"], size: Float[Tensor, " R"], n_groups: int
) -> tuple[Groups, Float[Tensor, " G"]]:
    """Divide the sources into groups of similar ones.

    Args:
        coefficients: Coefficients of each source on the features.
        size: Standard deviation of the sources in the direction of each feature. Sources are
            similar if their functions are, so differences count in these units.
        n_groups: Number of groups, at most that of different sources.

    Returns:
        The groups, and the share of the sources in each of them.

    Examples:
        >>> far = torch.tensor([[0.0], [0.1], [5.0], [5.2]], dtype=torch.float64)
        >>> groups, share = grouped(far, torch.ones(1).double(), 2)
        >>> sorted(round(c, 2) for c in groups.centre[:, 0].tolist()), share.tolist()
        ([0.05, 5.1], [0.5, 0.5])
    """
    scaled = coefficients * size
    nearest = _clusters(scaled, n_groups)
    members = [scaled[nearest == group] for group in nearest.unique().tolist()]
    apart = [own - own.mean(0) for own in members]
    pooled = torch.stack([d.mT @ d for d in apart]).sum(0) / len(scaled)
    n = min(_LEAST, max(len(scaled) // 2, 1))
    centres, spreads = [], []
    for own in members:
        if len(own) < n:
            far = (scaled - own.mean(0)).square().sum(-1)
            own = scaled[far.topk(n, largest=False).indices]
        d = own - own.mean(0)
        covariance = (d.mT @ d + _PSEUDO * pooled) / (max(1, len(own) - 1) + _PSEUDO)
        value, vector = torch.linalg.eigh(covariance)
        root = vector * value.clamp_min(0).sqrt() / size.unsqueeze(-1)
        centres.append(own.mean(0) / size)
        spreads.append(root.flip(-1)[:, :_MOST_SPREAD])
    share = torch.tensor([len(own) for own in members], dtype=scaled.dtype) / len(scaled)
    return Groups(torch.stack(centres), torch.stack(spreads)), share


def _clusters(x: Float[Tensor, "M R"], n: int) -> Int[Tensor, " M"]:
    """Return the cluster of each point by k-means, started from points far apart.

    The start is determined by the points, whatever their order.
    """
    distance = (x - x.mean(0)).square().sum(-1)
    chosen = [int(distance.argmin())]
    distance = torch.full_like(distance, torch.inf)
    for _ in range(n - 1):
        distance = torch.minimum(distance, (x - x[chosen[-1]]).square().sum(-1))
        chosen.append(int(distance.argmax()))
    centres = x[chosen]
    nearest = torch.cdist(x, centres).argmin(-1)
    for _ in range(_ROUNDS):
        is_member = torch.nn.functional.one_hot(nearest, n).to(x)
        n_members = is_member.sum(0).unsqueeze(-1)
        centres = torch.where(n_members > 0, is_member.mT @ x / n_members.clamp_min(1), centres)
        before, nearest = nearest, torch.cdist(x, centres).argmin(-1)
        if torch.equal(before, nearest):
            break
    return nearest
