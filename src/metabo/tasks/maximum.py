"""The global maximum of random functions: a look everywhere, then climbs from the best places.

A sample of a GP has many maxima, about as many as there are cells of some lengthscales, and no
formula for the highest. The sums of two sets of points are evaluated as one matrix product, so
they can be dense; then projected BFGS climbs from the best of them, no two near each other. Shapes
are fixed and no value is looked at, so it can be part of a recorded CUDA graph.
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
"""Least distance of two starts, in lengthscales."""
_AT_ONCE = 2**23
"""Values of a grid held at once."""


@dataclass(frozen=True)
class Effort:
    """How hard to look."""

    side: int
    """Points of each of the two sets whose sums are looked at."""
    pool: int
    """How many of the best sums starts are chosen from."""
    starts: int
    """Climbs that begin."""
    finishers: int
    """Climbs that go on to the last digits."""

    @classmethod
    def sized(cls, dim: int) -> "Effort":
        """More points and climbs in more dimensions.

        With a quarter of the places or of the pool, runs of EI in three to five dimensions found
        more than the maximum on up to 4 of 1,000 functions.
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
    """Where each function is largest in the unit cube, and how large."""
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
    """Two sets whose sums cover the cube: Sobol points of half of the axes, and of the others.

    On a line they are cells and places in a cell. The result is shared: do not write to it.
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
    """The best points, each at some distance from those before it."""
    rest, chosen = value.clone(), []
    radius = (_APART * lengthscale).square()[:, None]
    for _ in range(n):
        # Where all are near one chosen before, the first comes again, and no harm is done.
        index = rest.argmax(-1)[:, None, None].expand(-1, 1, x.shape[-1])
        point = x.gather(1, index)  # E 1 D
        chosen.append(point)
        rest.masked_fill_((x - point).square().sum(-1) < radius, -torch.inf)
    return torch.cat(chosen, 1)
