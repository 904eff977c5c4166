"""Points at which sources are evaluated: more of them where functions bend.

The first points cover the cube evenly. The others are added in rounds, until the interpolation
between them errs little. In each round a few sources show where it errs, and the next point is
always the one of a large pool where the error is largest that is left: the error measured, times
the share of the kernel's deviation that the points added since leave there.

The pool covers the cube evenly, too, and is denser around the best points of these sources:
a good region may be tiny, and it is where the next task will be evaluated.
"""

import torch
from torch import Tensor

from metabo.domain import sobol
from metabo.gp import Prior
from metabo.gp.kernels import correlation
from metabo.gp.learned import INTERPOLATION_JITTER
from metabo.shapes import Float, Int
from metabo.sources.interpolation import Interpolation
from metabo.sources.shared import require_learnable
from metabo.tasks import Tasks

_SIZES = (200, 400, 600, 800)
"""Numbers of points after each round."""
_ENOUGH = 1e-4
"""Error of the interpolation, as a share of the sources' deviation, that is small enough."""
_POOL = 4096
"""Number of points to choose from."""
_CHECKS = 64
"""Number of points that cover the cube, and of points around the best ones of the sources, at
which the interpolation is checked in the end."""
_REACHES = (0.1, 0.05, 0.02)
"""Half the edges of the cubes around the best points, each around the best point so far."""
_NEAR = 64
"""Number of points in each of these cubes."""


def covering(n: int, dim: int) -> tuple[Float[Tensor, "Z D"], Float[Tensor, "N D"]]:
    """Return `n` points that cover the cube evenly, up to its faces, and others for checks."""
    first = max(n, _POOL)
    # Beyond the faces they are clipped, which makes some of those in the corners the same.
    points = _different((0.5 + 1.1 * (sobol(2 * (first + _CHECKS), dim) - 0.5)).clamp(0, 1))
    return points[:n], points[first : first + _CHECKS]


def inducing_points(
    prior: Prior, tasks: Tasks, n_points: int | None = None
) -> tuple[Float[Tensor, "Z D"], Float[Tensor, "N D"]]:
    """Return points at which to evaluate sources, and others for checks.

    Args:
        prior: Plain prior of the family.
        tasks: A few of the sources, which show where functions bend.
        n_points: Number of points; by default as many as the interpolation needs, 200 to 800.
    """
    even, even_checks = covering(_POOL, prior.dim)
    n_tasks = tasks.optimum.shape[0]
    y = tasks(even.expand(n_tasks, -1, -1))
    require_learnable(y)
    near = _near_best(tasks, even, y)
    other, near = near[:_CHECKS], near[_CHECKS:]
    pool, checks = _different(torch.cat([even, near])), torch.cat([even_checks, other])
    added = pool[len(even) :]
    y = torch.cat([y, tasks(added.expand(n_tasks, -1, -1))], 1)
    require_learnable(y)
    sizes = _SIZES if n_points is None else (n_points // 2, n_points)
    chosen = torch.arange(sizes[0])
    for size in sizes[1:]:
        is_left = torch.ones(len(pool), dtype=torch.bool).index_fill(0, chosen, False)
        held_out = is_left.nonzero()[:, 0]
        found = Interpolation.best(
            prior, pool[chosen], y[:, chosen], pool[held_out], y[:, held_out]
        )
        if n_points is None and float(found.error.square().mean().sqrt() / y.std()) <= _ENOUGH:
            break
        error = torch.zeros_like(pool[:, 0]).index_copy(0, held_out, found.error)
        chosen = _extended(chosen, size, pool, error, found)
    return pool[chosen], checks


def _near_best(
    tasks: Tasks, x: Float[Tensor, "N D"], y: Float[Tensor, "M N"]
) -> Float[Tensor, "n D"]:
    """Return points around the best of the points `x` for each task, and around better ones."""
    offsets = 2 * sobol(_NEAR, x.shape[1]) - 1
    best, highest = x[y.argmax(-1)], y.amax(-1)  # M D, M
    found = []
    for reach in _REACHES:
        cloud = (best[:, None] + reach * offsets).clamp(0, 1)  # M n D; the first is the centre
        values = tasks(cloud)
        better = values.amax(-1) > highest
        own = cloud.take_along_dim(values.argmax(-1)[:, None, None], 1)[:, 0]
        best = torch.where(better[:, None], own, best)
        highest = torch.maximum(highest, values.amax(-1))
        found.append(cloud)
    near = torch.cat(found, 1).transpose(0, 1).flatten(0, 1)
    order = torch.randperm(len(near), generator=torch.Generator().manual_seed(0))
    return _different(near[order])


def _extended(
    chosen: Int[Tensor, " Z"], n: int, pool: Tensor, error: Tensor, by: Interpolation
) -> Int[Tensor, " n"]:
    """Return the chosen points of the pool, and more of them where the largest errors are left.

    This is a Cholesky factorization with pivots: row i of `v` is what the i-th point says about
    the pool that those before it do not.
    """
    z, known = pool[chosen], len(chosen)
    k = correlation(by.kernel, z, z, by.lengthscale[0])
    k.diagonal().add_(INTERPOLATION_JITTER)
    v = pool.new_empty(n, len(pool))
    v[:known] = torch.linalg.solve_triangular(
        torch.linalg.cholesky(k), correlation(by.kernel, z, pool, by.lengthscale[0]), upper=False
    )
    left = (1 + INTERPOLATION_JITTER - v[:known].square().sum(0)).clamp_min(INTERPOLATION_JITTER)
    promise = error.square() / left
    promise[chosen] = -1  # never again, even if there is no error left anywhere
    added = []
    for row in range(known, n):
        j = int((promise * left).argmax())
        own = correlation(by.kernel, pool[j : j + 1], pool, by.lengthscale[0])[0]
        v[row] = (own - v[:row, j] @ v[:row]) / left[j].sqrt()
        left = (left - v[row].square()).clamp_min(INTERPOLATION_JITTER)
        promise[j] = -1
        added.append(j)
    return torch.cat([chosen, torch.tensor(added)])


def _different(points: Float[Tensor, "N D"]) -> Float[Tensor, "n D"]:
    """Return the points without repetitions, in the order in which they come first."""
    _, which = points.unique(dim=0, return_inverse=True)
    index = torch.arange(len(points))
    first = torch.full_like(which, len(points)).scatter_reduce(0, which, index, "amin")
    return points[first[first < len(points)].sort().values]
