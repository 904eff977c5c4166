"""The global maximum of random functions: a dense grid, then ascent from its best points.

A sample of a GP has many local maxima, about one per few lengthscales in each direction, and no
formula for the highest. The values at all sums of two sets of points are one matrix product, so
the grid can be dense. Projected BFGS then climbs from its best points that are not near each
other. Shapes are fixed and no values are read, so that a CUDA graph can record it.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from metabo.ascent import ascend
from metabo.domain import sobol
from metabo.shapes import Float
from metabo.tasks.fourier import FourierSum

_APART = 0.5
"""Smallest distance between two starting points, in lengthscales."""
_AT_ONCE = 2**23
"""Largest number of grid values in memory at once."""


@dataclass(frozen=True)
class Effort:
    """Effort of the search."""

    side: int
    """Number of points in each of the two sets whose sums form the grid."""
    pool: int
    """Number of best grid points from which starting points are chosen."""
    starts: int
    """Number of starting points for ascent."""
    finishers: int
    """Number of ascents that are continued to the last digits."""

    @classmethod
    def sized(cls, dim: int) -> "Effort":
        """Return the effort for a number of dimensions.

        With a quarter of the points or of the pool, runs of EI in three to five dimensions
        exceeded the maximum found on up to 4 of 1,000 functions.
        """
        if dim <= 2:
            return cls(side=128, pool=512, starts=16, finishers=4)
        if dim <= 4:
            return cls(side=512, pool=8192, starts=128, finishers=16)
        return cls(side=512, pool=8192, starts=256, finishers=32)


@torch.no_grad()
def global_maximum(
    functions: FourierSum, lengthscale: Float[Tensor, " E"], effort: Effort
) -> tuple[Float[Tensor, "E D"], Float[Tensor, " E"]]:
    """Return the location and value of each function's maximum in the unit cube."""
    number = torch.arange(len(lengthscale), device=lengthscale.device)
    parts = [
        _global_maximum(functions.take(part), lengthscale[part], effort)
        for part in number.split(max(1, _AT_ONCE // effort.side**2))
    ]
    places, values = zip(*parts, strict=True)
    return torch.cat(places), torch.cat(values)


def _global_maximum(
    functions: FourierSum, lengthscale: Tensor, effort: Effort
) -> tuple[Tensor, Tensor]:
    dim = functions.frequency.shape[-1]
    left, right = _addends(effort.side, dim, functions.frequency.device)
    sums = (left[:, None] + right).flatten(0, 1)  # LR D
    pool = functions.on_sums(left, right).flatten(1).topk(effort.pool, -1)  # E P, the best first
    points = _apart(sums[pool.indices], pool.values, lengthscale, effort.starts)
    for n, iterations in ((effort.finishers, 8), (1, 12 + 4 * dim)):
        points, values = ascend(
            functions.with_gradient,
            points,
            lower=sums.new_zeros(dim),
            upper=sums.new_ones(dim),
            unit=lengthscale[:, None, None].expand(-1, 1, dim),
            iterations=iterations,
            radius=0.1,
        )
        top = values.topk(n, -1)
        points = points.gather(1, top.indices.unsqueeze(-1).expand(-1, -1, dim))
    return points[:, 0], top.values[:, 0]


@lru_cache(maxsize=16)
def _addends(
    side: int, dim: int, device: torch.device
) -> tuple[Float[Tensor, "L D"], Float[Tensor, "R D"]]:
    """Return two sets whose sums cover the cube: Sobol points on either half of the axes.

    In one dimension, they are cells and places in a cell. The result is cached: do not modify it.
    """
    if dim == 1:
        cells = torch.arange(side, dtype=torch.float64, device=device)[:, None] / side
        return cells, (cells + 0.5 / side) / side
    p = dim // 2
    first = torch.nn.functional.pad(sobol(side, p, device), (0, dim - p))
    return first, torch.nn.functional.pad(sobol(side, dim - p, device), (p, 0))


def _apart(
    x: Float[Tensor, "E P D"],
    value: Float[Tensor, "E P"],
    lengthscale: Float[Tensor, " E"],
    n: int,
) -> Float[Tensor, "E n D"]:
    """Return the best points, each at some distance from the ones before it."""
    rest, chosen = value.clone(), []
    radius = (_APART * lengthscale).square()[:, None]
    for _ in range(n):
        # If all points are near chosen ones, the first is chosen again, which does no harm.
        index = rest.argmax(-1)[:, None, None].expand(-1, 1, x.shape[-1])
        point = x.gather(1, index)  # E 1 D
        chosen.append(point)
        rest.masked_fill_((x - point).square().sum(-1) < radius, -torch.inf)
    return torch.cat(chosen, 1)
