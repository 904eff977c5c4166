"""Expectation maximization: learn the distribution of tasks from a few rows of each.

A task is a(x) . u plus what the R basis functions a cannot say. They are those of the stationary
kernel at the inducing points, so that tasks of the stationary kernel have u ~ N(0, v I).

| symbol | meaning                                                               |
| ------ | --------------------------------------------------------------------- |
| A      | values of the basis functions at the rows of a source, `n R`          |
| Q      | covariance of the rest: residual, unknown level, noise, `n n`         |
| m, S   | mean and covariance of u over the tasks                               |

In the *E-step* the rows of each source give the mean u' = m + S A' (A S A' + Q)^-1 (y - A m) of
its u and the covariance C = S - S A' (A S A' + Q)^-1 A S. In the *M-step* m becomes the average of
u' over the sources, S that of C + (u' - m)(u' - m)'. Without C, the posterior means would be taken
for measured values, and S would vanish where nobody measured. Some *pseudo-sources* of the
stationary kernel shrink S towards it.

Every round explains the sources better, but not other tasks. So the number of rounds and that of
pseudo-sources are chosen by the likelihood of sources that were left out.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.shapes import Bool, Float, Int

MOST_ROUNDS = 15
"""Largest number of rounds."""
PSEUDO_SOURCES = (0.5, 1.0, 2.0)
"""Numbers of pseudo-sources to try."""
_FEW_SOURCES = 20
"""Number of sources above which they hardly matter, and only 1 is tried."""
_LEAST_GAIN = 1e-3
"""Gain in log likelihood per row below which no further round is tried."""
_FOLDS = 5
"""Largest number of parts of the sources that are left out, one at a time."""
_LEFT_OUT = 100
"""Number of sources that are left out, all parts together, if there are more than that."""


@dataclass(frozen=True)
class Coefficients:
    """Distribution of the coefficients of a task, u ~ N(mean, covariance)."""

    mean: Float[Tensor, " R"]
    """Mean m."""
    covariance: Float[Tensor, "R R"]
    """Covariance S."""

    @classmethod
    def stationary(cls, n: int, variance: float) -> "Coefficients":
        """Return the distribution under the stationary kernel, with `n` basis functions."""
        eye = torch.eye(n, dtype=torch.float64)
        return cls(eye.new_zeros(n), variance * eye)


@dataclass(frozen=True)
class Batch:
    """Sources with equally many rows."""

    source: Int[Tensor, " M"]
    """Indices of the sources."""
    basis: Float[Tensor, "M n R"]
    """Values A of the basis functions at the rows."""
    rest: Float[Tensor, "M n n"]
    """Covariance Q of what the basis functions cannot say."""
    y: Float[Tensor, "M n"]
    """Values of the rows."""


@dataclass(frozen=True)
class Learning:
    """Settings of the learning, and how well each does on sources that were left out."""

    rounds: int
    """Number of rounds that is best."""
    pseudo_sources: float
    """Number of pseudo-sources that is best."""
    folds: list[tuple[Int[Tensor, " _"], Coefficients]]
    """Sources of each part that was left out, and what the others teach with these settings."""
    tried: dict[tuple[float, int], float]
    """Log likelihood per row for each number of pseudo-sources and of rounds."""


def chosen(batches: list[Batch], variance: float) -> Learning:
    """Choose the settings by the likelihood of sources that were left out.

    Args:
        batches: At least 2 sources.
        variance: Variance of the stationary kernel.
    """
    n_sources = sum(len(batch.source) for batch in batches)
    length = torch.zeros(n_sources)
    for batch in batches:
        length[batch.source] = batch.y.shape[1]
    parts = _left_out(n_sources)
    n_rows = float(sum(length[part].sum() for part in parts))
    best: Learning | None = None
    tried: dict[tuple[float, int], float] = {}
    for pseudo in PSEUDO_SOURCES if n_sources <= _FEW_SOURCES else (1.0,):
        now = [Coefficients.stationary(batches[0].basis.shape[-1], variance)] * len(parts)
        for rounds in range(MOST_ROUNDS + 1):
            total, after = 0.0, []
            for part, before in zip(parts, now, strict=True):
                is_learned_from = torch.ones(n_sources, dtype=torch.bool)
                is_learned_from[part] = False
                better, log_density = improved(before, batches, is_learned_from, variance, pseudo)
                total += float(log_density[part].sum()) / n_rows
                after.append(better)
            tried[pseudo, rounds] = total
            if best is None or total > tried[best.pseudo_sources, best.rounds]:
                best = Learning(rounds, pseudo, list(zip(parts, now, strict=True)), tried)
            if rounds and total < tried[pseudo, rounds - 1] + _LEAST_GAIN:
                break
            now = after
    assert best is not None, "0 rounds are always tried"
    return best


def learned(batches: list[Batch], variance: float, learning: Learning) -> Coefficients:
    """Return what all sources teach with the chosen settings."""
    n_sources = sum(len(batch.source) for batch in batches)
    every = torch.ones(n_sources, dtype=torch.bool)
    now = Coefficients.stationary(batches[0].basis.shape[-1], variance)
    for _ in range(learning.rounds):
        now, _ = improved(now, batches, every, variance, learning.pseudo_sources)
    return now


def improved(
    before: Coefficients,
    batches: list[Batch],
    is_learned_from: Bool[Tensor, " M"],
    variance: float,
    pseudo_sources: float,
) -> tuple[Coefficients, Float[Tensor, " M"]]:
    """Return the distribution after one more round, and each source's log density before it."""
    m, s = before.mean, before.covariance
    u = m.repeat(len(is_learned_from), 1)
    log_density = torch.zeros_like(u[:, 0])
    n_learned = int(is_learned_from.sum())
    within = n_learned * s
    for batch in batches:
        image = batch.basis @ s  # M n R
        factor = torch.linalg.cholesky(image @ batch.basis.mT + batch.rest)
        apart = (batch.y - batch.basis @ m).unsqueeze(-1)
        white = torch.linalg.solve_triangular(factor, torch.cat([image, apart], -1), upper=False)
        gain, white_y = white[..., :-1], white[..., -1]
        u[batch.source] += (gain.mT @ white_y.unsqueeze(-1)).squeeze(-1)
        log_pivots = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        constant = 0.5 * batch.y.shape[1] * math.log(2 * math.pi)
        log_density[batch.source] = -0.5 * white_y.square().sum(-1) - log_pivots - constant
        known = gain[is_learned_from[batch.source]].flatten(0, 1)
        within = within - known.mT @ known
    u = u[is_learned_from]
    mean = u.mean(0)
    between = (u - mean).mT @ (u - mean)
    shrunk = within + between + pseudo_sources * variance * torch.eye(len(m), dtype=m.dtype)
    return Coefficients(mean, shrunk / (n_learned + pseudo_sources)), log_density


def _left_out(n_sources: int) -> list[Tensor]:
    """Return the parts of the sources that are left out, every one spread over all of them."""
    step = max(_FOLDS, n_sources // _LEFT_OUT)
    parts = [torch.arange(first, n_sources, step) for first in range(min(_FOLDS, n_sources))]
    n_parts = -(-_LEFT_OUT // len(parts[0]))
    return parts[:n_parts]
