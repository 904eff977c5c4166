"""Learn a prior from scattered rows: every source was evaluated at points of its own.

Each source is standardized by its own mean and deviation. Expectation maximization
(`metabo.sources.expectation`) then learns mean and covariance of the sources at inducing points.
The leading eigenvectors of the covariance become the features of `metabo.gp.LearnedPart`. The
deviations of the sources give the scales of its cells, their means the variance of the offset. The
prior probabilities of residual shares, and of the plain prior, are those that explain a few values
of sources that were left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.gp import GP, Cells, LearnedGP, LearnedPart, Prior, plain_log_evidence
from metabo.shapes import Float, Int
from metabo.sources.expectation import Coefficients, chosen, learned
from metabo.sources.inducing import LEVEL_VARIANCE, Inducing, batched
from metabo.sources.rows import Rows, Source, checked, deviations
from metabo.sources.weights import mixture_weights

_MOST_RANK = 60
"""Largest number of features."""
_LEAST_VARIANCE = 1e-9
"""Directions with less than this share of the variance are left out."""
_SHARES = (1e-3, 1e-2, 0.1, 0.4)
"""Variances of the residual of the cells, as shares of that of the stationary kernel."""
_STEPS = (-2.0, -1.0, 0.0, 1.0, 2.0)
"""Logarithms of the scales of the cells, in standard deviations from their mean."""
_VAGUE = 0.5
"""Deviation of the logarithm of a scale in a pseudo-source, since few sources may be alike."""
_FEW = 8
"""Number of values of a left-out source that weigh the cells."""


def learn_scattered(prior: Prior, rows: Sequence[Rows], *, is_exact: bool = False) -> LearnedPart:
    """Learn mean, features and cells from sources that were evaluated at different points.

    Sources with fewer than 3 different points are left out: nothing is known of their scale.

    Args:
        prior: Plain prior of the family.
        rows: Points in the unit cube and values of each source. Values at a repeated point are
            averaged.
        is_exact: Whether a new task is observed without noise.

    Raises:
        DataError: If fewer than 2 sources have 3 different points, all of them are constant, a
            number is not finite, or the points are not of the prior's space.
    """
    sources = checked(rows, prior.dim)
    deviation = deviations(prior, sources)
    inducing = Inducing.of(prior, sources)
    batches, variance = batched(inducing, sources, deviation)
    learning = chosen(batches, variance)
    family = _Family(inducing, sources, deviation, variance, is_exact)
    every = torch.arange(len(sources))
    evidence = []
    for left_out, coefficients in learning.folds:
        others = every[~torch.isin(every, left_out)]
        evidence.append(family.log_evidence(family.part(coefficients, others), left_out))
    weight = mixture_weights(torch.cat(evidence))
    return family.part(learned(batches, variance, learning), every, weight)


@dataclass(frozen=True)
class _Family:
    """What all learned parts from the same sources have in common."""

    inducing: Inducing
    sources: list[Source]
    deviation: Float[Tensor, " M"]
    variance: float
    is_exact: bool

    def part(
        self, coefficients: Coefficients, sources: Int[Tensor, " m"], weight: Tensor | None = None
    ) -> LearnedPart:
        """Return what was learned from some sources, with weights of the residual shares."""
        at_z, prior = self.inducing.at_z, self.inducing.prior
        value, vector = torch.linalg.eigh(at_z @ coefficients.covariance @ at_z.mT)
        n = min(_MOST_RANK, int((value > _LEAST_VARIANCE * value.sum()).sum()))
        features = (vector * value.clamp_min(0).sqrt()).flip(1)[:, :n]
        return LearnedPart.interpolating(
            self.inducing.z,
            torch.cat([(at_z @ coefficients.mean)[None], features.mT]),
            kernel=prior.kernel,
            lengthscale=prior.lengthscale[0],
            cells=self._cells(sources, weight),
        )

    def log_evidence(self, part: LearnedPart, sources: Int[Tensor, " m"]) -> Float[Tensor, "m C"]:
        """Return the log evidence of each residual share, and of the plain prior last."""
        prior = self.inducing.prior
        few = [self.sources[source].few(_FEW) for source in sources.tolist()]
        n_few = torch.tensor([len(source.y) for source in few])
        evidence = part.z.new_empty(len(few), len(_SHARES) + 1)
        for n in n_few.unique().tolist():
            mine = (n_few == n).nonzero()[:, 0]
            x = torch.stack([few[i].x for i in mine.tolist()])
            y = torch.stack([few[i].y for i in mine.tolist()])
            gp = LearnedGP.empty(replace(prior, learned=part), len(mine))
            for t in range(n):
                gp = gp.grown(x[:, t], y[:, t])
            of_scales = part.cells.log_weight.view(len(_SHARES), -1).log_softmax(-1)
            of_cells = gp.log_evidence.view(len(mine), len(_SHARES), -1)
            evidence[mine, :-1] = (of_cells + of_scales).logsumexp(-1)
            evidence[mine, -1] = plain_log_evidence(GP.of(prior, x, y))
        return evidence

    def _cells(self, sources: Int[Tensor, " m"], weight: Tensor | None) -> Cells:
        """Return the cells for each residual share and, within it, each scale."""
        if weight is None:
            weight = self.deviation.new_full((len(_SHARES) + 1,), 1 / (len(_SHARES) + 1))
        level = torch.stack([self.sources[i].y.mean() for i in sources.tolist()])
        log = self._log_deviation(sources)
        spread = ((log - log.mean()).square().sum() + _VAGUE**2) / len(log)
        steps = torch.tensor(_STEPS, dtype=log.dtype)
        scale = (log.mean() + spread.sqrt() * steps).exp()
        # The mean level of the sources, too, is left to the offset. As a part of the mean function
        # it would fade to 0 where nobody measured.
        offset = level.square().mean() + LEVEL_VARIANCE * scale.square()
        share = torch.tensor(_SHARES, dtype=log.dtype) * self.variance
        share = share / self.inducing.prior.signal_variance[0]
        each = torch.cartesian_prod(share, scale)
        noise = (each[:, 0] * each[:, 1].square()).clamp_max(1)
        of_scales = (-0.5 * steps.square()).log_softmax(0)
        return Cells(
            torch.zeros(len(each), dtype=torch.int64),
            each[:, 0].contiguous(),
            each[:, 1].contiguous(),
            offset.repeat(len(share)),
            noise if self.is_exact else torch.ones_like(noise),
            (weight[:-1, None].log() + of_scales).flatten(),
            weight[-1].log(),
        )

    def _log_deviation(self, sources: Int[Tensor, " m"]) -> Float[Tensor, " k"]:
        """Return the logarithms of the deviations, without those at their lower limit if any."""
        deviation = self.deviation[sources]
        own = torch.stack([self.sources[i].y.std() for i in sources.tolist()])
        is_own = own == deviation
        return (deviation[is_own] if bool(is_own.any()) else deviation).log()
