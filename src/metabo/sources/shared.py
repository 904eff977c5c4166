"""Learn a prior from source tasks that were all evaluated at the same points.

The mean of the sources and the directions in which they differ most (a singular-value
decomposition) become the mean and the features of `metabo.gp.LearnedPart`; clusters of the
sources' coefficients become its groups. Three choices are made by data that was held out:

- the kernel and the lengthscales of the interpolation between the points, by its error at other
  points;
- the number of groups, by how well the prior explains a few values of sources that were left out;
- the prior probabilities of the cells, and of the plain prior, in the same way.

Nothing depends on the order of the sources, except for rounding.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from metabo.errors import DataError
from metabo.gp import GP, Cells, Groups, LearnedGP, LearnedPart, Prior, plain_log_evidence
from metabo.gp.kernels import KernelName
from metabo.gp.learned import inverse_covariance, level_of, weights_of
from metabo.shapes import Float
from metabo.sources.groups import grouped
from metabo.sources.interpolation import Interpolation
from metabo.sources.weights import mixture_weights

_MOST_RANK = 100
"""Largest number of features."""
_LEAST_VARIANCE = 1e-9
"""Directions with less than this share of the sources' variance are left out."""
_SHARES = (1e-6, 1e-4, 1e-2, 1e-1)
"""Residual shares of the cells."""
_GROUPS = (1, 4, 16, 64)
"""Numbers of groups to try, up to a third of the number of sources."""
_RARE = 0.03
"""Prior probability of a residual share below which groups have no cells with it."""
_FOLDS = 5
"""Number of parts of the sources, each left out once."""
_MOST_LEFT_OUT = 40
"""Largest number of sources of each part whose values weigh the cells."""
_FEW = 8
"""Number of values of a left-out source that weigh the cells."""


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
    require_learnable(y if y_checks is None else torch.cat([y, y_checks], 1))
    order = y.mean(-1).argsort()
    y, kernel, lengthscale = y[order], prior.kernel, prior.lengthscale[:1]
    noise_share = torch.ones_like if not is_exact else torch.clone
    if checks is None or y_checks is None:
        checks, y_checks = x, y
    else:
        y_checks = y_checks[order]
        found = Interpolation.best(prior, x, y, checks, y_checks)
        kernel, lengthscale = found.kernel, found.lengthscale
        noise_share = torch.ones_like if not is_exact else torch.zeros_like
    space = _Space(prior, x, kernel, lengthscale, noise_share)
    tried = [space.judged(y, checks, y_checks, n) for n in _GROUPS if n <= max(1, len(y) // 3)]
    return space.part(y, *max(tried, key=lambda one: one[0])[1:])


def mean_and_features(
    y: Float[Tensor, "M Z"],
) -> tuple[Float[Tensor, "_ Z"], Float[Tensor, "M R"], Float[Tensor, " R"]]:
    """Return mean and features of the sources, their coefficients, and the features' sizes.

    The first row is the mean of the sources, the others the directions in which they differ. The
    sum of the squares of the directions is the variance of the sources.
    """
    mean = y.mean(0)
    own, size, directions = torch.linalg.svd(y - mean, full_matrices=False)
    variance = size.square() / (len(y) - 1)
    # Sources that agree differ by rounding, which is no direction.
    total = variance.sum().clamp_min(1e-12 * y.square().mean(0).sum())
    n = int((variance > _LEAST_VARIANCE * total).sum())
    n = min(n, _MOST_RANK, len(y) - 1)
    deviation = variance[:n].sqrt()
    rows = torch.cat([mean[None], deviation[:, None] * directions[:n]])
    return rows, own[:, :n] * math.sqrt(len(y) - 1), deviation


@dataclass(frozen=True)
class _Space:
    """What all learned parts that are compared have in common."""

    prior: Prior
    z: Tensor
    kernel: KernelName
    lengthscale: Tensor
    noise_share: Callable[[Tensor], Tensor]
    """Maps the residual shares of the cells to their shares of the noise."""

    def part(self, y: Tensor, n_groups: int, weight: Tensor | None = None) -> LearnedPart:
        """Return what the sources `y` teach, in groups, with weights of the kinds of cells."""
        rows, coefficients, size = mean_and_features(y)
        groups, portion = Groups.none(len(size)), torch.zeros(0, dtype=y.dtype)
        if n_groups > 1 and len(size):
            groups, portion = grouped(coefficients, size, n_groups)
        cells = _cells(portion, weight, self.noise_share)
        level = level_of(rows[0], self._inverse)
        weights = weights_of(rows, level, self._inverse)
        return LearnedPart(self.z, weights, self.lengthscale, self.kernel, cells, groups, level)

    def judged(
        self, y: Tensor, checks: Tensor, y_checks: Tensor, n_groups: int
    ) -> tuple[float, int, Tensor | None]:
        """Return how well a number of groups explains left-out sources, it, and the weights."""
        kinds = []
        fold = torch.arange(len(y)) % min(_FOLDS, len(y))
        for left_out in range(int(fold.max()) + 1):
            mine = (fold == left_out).nonzero()[:, 0][:_MOST_LEFT_OUT]
            others = y[fold != left_out]
            if len(others) >= 2:
                part = self.part(others, n_groups)
                kinds.append(self._evidence(part, mine, checks, y_checks[mine]))
        if not kinds:
            return 0.0, n_groups, None
        log_evidence = torch.cat(kinds)
        weight = mixture_weights(log_evidence)
        score = (log_evidence + weight.log()).logsumexp(-1).mean()
        return float(score), n_groups, weight

    def _evidence(self, part: LearnedPart, sources: Tensor, checks: Tensor, y: Tensor) -> Tensor:
        """Return the log evidence of each kind of cells, and of the plain prior last."""
        # Every source gets other points, spread over all of them.
        n_few = min(_FEW, len(checks))
        few = (sources[:, None] * 7 + torch.arange(n_few) * (len(checks) // n_few)) % len(checks)
        x, values = checks[few], y.gather(1, few)
        gp = LearnedGP.empty(replace(self.prior, learned=part), len(sources))
        for t in range(n_few):
            gp = gp.grown(x[:, t], values[:, t])
        cells = part.cells
        joint = gp.log_evidence + cells.log_weight
        kinds = []
        for is_of_all in (True, False) if len(part.groups.centre) else (True,):
            for share in _SHARES:
                chosen = (cells.share == share) & ((cells.group == 0) == is_of_all)
                own = joint[:, chosen].logsumexp(-1) - cells.log_weight[chosen].logsumexp(-1)
                kinds.append(own)
        kinds.append(plain_log_evidence(GP.of(self.prior, x, values)))
        return torch.stack(kinds, -1)

    @cached_property
    def _inverse(self) -> Tensor:
        return inverse_covariance(self.z, self.kernel, self.lengthscale)


def _cells(
    portion: Tensor, weight: Tensor | None, noise_share: Callable[[Tensor], Tensor]
) -> Cells:
    """Return the cells of all sources, then those of the groups, for each residual share.

    Args:
        portion: Share of the sources in each group.
        weight: Prior probability of each residual share with all sources, then with the groups,
            and of the plain prior last; all the same if None.
        noise_share: Maps the residual shares to the shares of the noise.
    """
    n_shares, n_groups = len(_SHARES), len(portion)
    n_kinds = n_shares * (1 + (n_groups > 0))
    if weight is None:
        weight = torch.full((n_kinds + 1,), 1 / (n_kinds + 1), dtype=torch.float64)
    share = torch.tensor(_SHARES, dtype=weight.dtype)
    group = [torch.zeros(n_shares, dtype=torch.int64)]
    shares, weights = [share], [weight[:n_shares]]
    for own, value in zip(weight[n_shares:-1].tolist(), _SHARES, strict=False):
        if own > _RARE:
            group.append(torch.arange(1, n_groups + 1))
            shares.append(torch.full_like(portion, value))
            weights.append(own * portion)
    both = torch.cat(weights)
    rest = both.sum() + weight[-1]
    each = torch.cat(shares)
    return Cells(
        torch.cat(group),
        each,
        torch.ones_like(each),
        torch.zeros_like(each),
        noise_share(each),
        (both / rest).log(),
        (weight[-1] / rest).log(),
    )


def require_learnable(y: Float[Tensor, "M Z"]) -> None:
    """Raise `DataError` if a value is not finite, or all sources are constant."""
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
