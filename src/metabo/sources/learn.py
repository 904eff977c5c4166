"""Learn a prior from source tasks that were all evaluated at the same points.

The mean of the sources and the directions in which they differ most (a singular-value
decomposition) become the mean and the features of `metabo.gp.LearnedPart`. Two choices are made by
data that was held out:

- the kernel and the lengthscales of the interpolation between the points, by its error at other
  points;
- the prior probabilities of the cells, and of the plain prior, by how well each explains a few
  values of sources that were left out.

Nothing depends on the order of the sources, except for rounding.
"""

from dataclasses import replace

import torch
from torch import Tensor

from metabo.domain import Finite, sobol
from metabo.errors import DataError
from metabo.gp import GP, Cells, LearnedGP, LearnedPart, Prior, plain_log_evidence
from metabo.gp.kernels import KernelName, correlation
from metabo.gp.learned import inverse_covariance
from metabo.shapes import Float
from metabo.tasks import TaskFamily

MOST_SOURCES = 1000
"""Number of sources to learn from if a family has more."""
_MOST_RANK = 100
"""Largest number of features."""
_LEAST_VARIANCE = 1e-9
"""Directions with less than this share of the sources' variance are left out."""
_STRETCHES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
"""Multiples of the prior's lengthscales to try for the interpolation."""
_KERNELS: tuple[KernelName, ...] = ("rbf", "matern52")
"""Kernels to try for the interpolation."""
_SHARES = (1e-6, 1e-4, 1e-2, 1e-1)
"""Residual shares of the cells."""
_LEAST_WEIGHT = 0.02
"""Smallest prior probability of a cell, and of the plain prior.

Sources alone cannot rule out that the next task is unlike all of them.
"""
_FOLDS = 5
"""Number of parts of the sources, each left out once."""
_FEW = 12
"""Number of values of a left-out source that weigh the cells."""
_CHECKS = 64
"""Number of points at which the interpolation is checked."""


def learned_prior(
    family: TaskFamily, n_sources: int | None = None, n_points: int | None = None
) -> Prior:
    """Return the family's prior with a part that is learned from its sources.

    Args:
        family: Family with source tasks.
        n_sources: Number of sources to learn from; if None all of them, or `MOST_SOURCES`.
        n_points: Number of points at which they are evaluated; by default 600 to 1,000, more for
            shorter lengthscales, or the whole finite domain.

    Returns:
        The prior, on the CPU.

    Raises:
        DataError: If nothing can be learned from the sources: there are fewer than 2, or their
            values are not finite, or all of them are constant.
    """
    most = min(family.max_sources, MOST_SOURCES) if n_sources is None else n_sources
    if most < 2:
        raise DataError(
            f"A prior is learned from at least 2 source tasks, but family `{family.name}` has "
            f"{most}. Give more of them, or train without a learned prior."
        )
    tasks = family.sources(most)
    if isinstance(family.domain, Finite):
        points = family.domain.points
        n = len(points) if n_points is None else n_points
        x = points[torch.arange(n) * len(points) // n]
        return replace(
            family.prior,
            learned=learn(family.prior, x, _values(tasks, x, most), is_exact=family.noise == 0),
        )
    x, checks = inducing_points(family.prior, n_points)
    y = _values(tasks, torch.cat([x, checks]), most)
    learned = learn(
        family.prior, x, y[:, : len(x)], checks, y[:, len(x) :], is_exact=family.noise == 0
    )
    return replace(family.prior, learned=learned)


def inducing_points(
    prior: Prior, n: int | None = None
) -> tuple[Float[Tensor, "Z D"], Float[Tensor, "N D"]]:
    """Return `n` points that cover the cube up to its faces, and others for checks.

    Shorter lengthscales need more points, 600 to 1,000.
    """
    volume = float(prior.lengthscale.clamp(max=0.5).mean(0).mul(2).prod().reciprocal())
    n = int(min(1000, max(600, 40 * volume))) if n is None else n
    points = (0.5 + 1.1 * (sobol(n + _CHECKS, prior.dim) - 0.5)).clamp(0, 1)
    return points[:n], points[n:]


def learn(
    prior: Prior,
    x: Float[Tensor, "Z D"],
    y: Float[Tensor, "M Z"],
    checks: Float[Tensor, "N D"] | None = None,
    y_checks: Float[Tensor, "M N"] | None = None,
    *,
    is_exact: bool = True,
) -> LearnedPart:
    """Learn mean, features and cells from the values `y` of M sources at the same points `x`.

    Args:
        prior: Plain prior of the family.
        x: Points at which all sources were evaluated.
        y: Values of the sources.
        checks: Other points, at which the interpolation is checked; None if only the points `x`
            can be queried.
        y_checks: Values of the sources there.
        is_exact: Whether a new task is observed without noise.

    Raises:
        DataError: If a value is not finite, or all sources are constant.
    """
    _require(y)
    order = y.mean(-1).argsort()
    y = y[order]
    if checks is None or y_checks is None:
        checks, y_checks = x, y
    else:
        y_checks = y_checks[order]
    kernel, lengthscale = _interpolation(prior, x, y, checks, y_checks)
    part = LearnedPart.interpolating(
        x,
        mean_and_features(y),
        kernel=kernel,
        lengthscale=lengthscale,
        cells=_cells(torch.zeros(len(_SHARES) + 1, dtype=y.dtype), is_exact),
    )
    return replace(part, cells=_weighed(prior, part, y, checks, y_checks, is_exact))


def mean_and_features(y: Float[Tensor, "M Z"]) -> Float[Tensor, "R Z"]:
    """Return the mean of the sources, and the directions in which they differ as rows.

    The sum of the squares of the directions is the variance of the sources.
    """
    mean = y.mean(0)
    _, size, directions = torch.linalg.svd(y - mean, full_matrices=False)
    variance = size.square() / (len(y) - 1)
    n = int((variance > _LEAST_VARIANCE * variance.sum()).sum())
    n = min(n, _MOST_RANK, len(y) - 1)
    return torch.cat([mean[None], variance[:n, None].sqrt() * directions[:n]])


def _interpolation(
    prior: Prior, x: Tensor, y: Tensor, checks: Tensor, truth: Tensor
) -> tuple[KernelName, Tensor]:
    """Return the kernel and the lengthscales that interpolate the sources best."""
    if checks is x:
        return prior.kernel, prior.lengthscale[0]
    tried: dict[tuple[KernelName, float], float] = {}
    for kernel in _KERNELS:
        for stretch in _STRETCHES:
            lengthscale = stretch * prior.lengthscale[:1]
            weights = y @ inverse_covariance(x, kernel, lengthscale)
            error = weights @ correlation(kernel, x, checks, lengthscale[0]) - truth
            # The logarithm, so that a few points on a cliff do not decide.
            tried[kernel, stretch] = float((error.square().mean(0) + 1e-300).log().mean())
    kernel, stretch = min(tried, key=lambda choice: tried[choice])
    return kernel, stretch * prior.lengthscale[0]


def _weighed(
    prior: Prior, part: LearnedPart, y: Tensor, checks: Tensor, y_checks: Tensor, is_exact: bool
) -> Cells:
    """Return the cells, weighed by the evidence of values of sources that were left out."""
    n_folds = min(_FOLDS, len(y))
    fold = torch.arange(len(y)) % n_folds
    evidence = []
    inverse = inverse_covariance(part.z, part.kernel, part.lengthscale)
    for left_out in range(n_folds):
        mine = fold == left_out
        if int((~mine).sum()) < 2:
            continue
        own = replace(part, weights=mean_and_features(y[~mine]) @ inverse)
        sources = mine.nonzero()[:, 0]
        # Every source gets other points, spread over all of them.
        n_few = min(_FEW, len(checks))
        few = (sources[:, None] * 7 + torch.arange(n_few) * (len(checks) // n_few)) % len(checks)
        x, values = checks[few], y_checks[mine].gather(1, few)
        learned = LearnedGP.of(replace(prior, learned=own), x, values)
        plain = plain_log_evidence(GP.of(prior, x, values))
        evidence.append(torch.cat([learned.log_evidence, plain[:, None]], -1))
    if not evidence:
        return part.cells
    log_evidence = torch.cat(evidence)
    weight = torch.full_like(log_evidence[0], 1 / log_evidence.shape[1])
    for _ in range(30):  # expectation maximization for the proportions of a mixture
        weight = (log_evidence + weight.log()).softmax(-1).mean(0).clamp_min(_LEAST_WEIGHT)
        weight = weight / weight.sum()
    return _cells(weight.log(), is_exact)


def _cells(log_weight: Tensor, is_exact: bool) -> Cells:
    share = torch.tensor(_SHARES, dtype=log_weight.dtype)
    one, zero = torch.ones_like(share), torch.zeros_like(share)
    noise_share = share if is_exact else one
    return Cells(share, one, zero, noise_share, log_weight[:-1], log_weight[-1])


def _values(tasks: object, x: Tensor, n: int) -> Tensor:
    return tasks(x.expand(n, -1, -1))  # type: ignore[operator]


def _require(y: Tensor) -> None:
    is_wrong = ~torch.isfinite(y)
    if bool(is_wrong.any()):
        source, row = (int(i) for i in is_wrong.nonzero()[0])
        raise DataError(
            f"A prior is learned from finite values, but source {source} has "
            f"{float(y[source, row])} in row {row}. Leave such rows out, or replace failed "
            "evaluations by a finite penalty."
        )
    if bool((y.amax(-1) == y.amin(-1)).all()):
        raise DataError(
            "Nothing can be learned from these sources: every one of them is constant."
        )
