"""Inducing points of scattered sources, and the stationary kernel's basis functions at them.

With the eigenvectors V and eigenvalues L of k(Z, Z), the basis functions are
a(x) = k(x, Z) V L^(-1/2). A task a(x) . u with u ~ N(0, v I) has the covariance v k at the
inducing points, and less elsewhere; the rest of it, v (k - a a'), is what they cannot say.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.gp import Prior
from metabo.gp.kernels import correlation
from metabo.shapes import Float
from metabo.sources.expectation import Batch
from metabo.sources.rows import Source, spread_out

LEVEL_VARIANCE = 1.0
"""Variance of the level of a source's rows, in units of its deviation.

Where runs were optimized, their rows gather at good values, and the mean of the rows is not that
of the function.
"""
_MOST_POINTS = 256
"""Largest number of inducing points, and of rows of a source that are learned from."""
_MOST_ROWS, _ENOUGH_ROWS = 50_000, 40
"""Number of rows of all sources to learn from; but each has the second number, if it can."""
_LEAST_EIGENVALUE = 1e-8
"""Share of the largest eigenvalue below which a basis function is left out."""
_LEAST_NOISE = 1e-8
"""Smallest variance of the noise: with less, rows that nearly coincide have no factor."""
_VARIANCES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Variances of the stationary kernel to try, in units of a source's variance."""


@dataclass(frozen=True)
class Inducing:
    """Inducing points and basis functions."""

    prior: Prior
    """Prior with the kernel, the lengthscales and the noise."""
    z: Float[Tensor, "Z D"]
    """Inducing points."""
    at_z: Float[Tensor, "Z R"]
    """Values of the basis functions at the inducing points."""
    projection: Float[Tensor, "Z R"]
    """Factor P in a(x) = k(x, Z) P."""

    @classmethod
    def of(cls, prior: Prior, sources: list[Source]) -> "Inducing":
        """Return the points of the sources, thinned out if there are many."""
        lengthscale = prior.lengthscale[0]
        every = torch.cat([source.x for source in sources]).unique(dim=0)
        z = every[spread_out(every / lengthscale, _MOST_POINTS)]
        value, vector = torch.linalg.eigh(correlation(prior.kernel, z, z, lengthscale))
        is_kept = value > _LEAST_EIGENVALUE * value[-1]
        root, vector = value[is_kept].sqrt(), vector[:, is_kept]
        return cls(prior, z, vector * root, vector / root)

    def correlation(
        self, a: Float[Tensor, "M n D"], b: Float[Tensor, "M N D"]
    ) -> Float[Tensor, "M n N"]:
        """Return the stationary kernel between points."""
        return correlation(self.prior.kernel, a, b, self.prior.lengthscale[:1].expand(len(a), -1))


def batched(
    inducing: Inducing, sources: list[Source], deviation: Float[Tensor, " M"]
) -> tuple[list[Batch], float]:
    """Return the sources with their basis functions, and the variance of the stationary kernel.

    The variance makes the sources likeliest, in units of their deviations.
    """
    most = min(_MOST_POINTS, max(_ENOUGH_ROWS, _MOST_ROWS // len(sources)))
    by_length: dict[int, list[int]] = {}
    for m, source in enumerate(sources):
        by_length.setdefault(min(len(source.y), most), []).append(m)
    found, k = [], []
    for n, own in by_length.items():
        index = torch.tensor(own)
        unit = deviation[index][:, None]
        level = torch.stack([sources[m].y.mean() for m in own])[:, None]
        thinned = [sources[m].thinned(n, inducing.prior.lengthscale[0]) for m in own]
        x = torch.stack([source.x for source in thinned])
        y = (torch.stack([source.y for source in thinned]) - level) / unit
        noise = (inducing.prior.diagonal[0] / unit.square()).clamp_min(_LEAST_NOISE)
        rest = torch.diag_embed(noise.expand(-1, n)) + LEVEL_VARIANCE
        basis = inducing.correlation(x, inducing.z.expand(len(x), -1, -1)) @ inducing.projection
        found.append(Batch(index, basis, rest, y))
        k.append(inducing.correlation(x, x))
    variance = _likeliest(found, k)
    whole = []
    for batch, every in zip(found, k, strict=True):
        unexplained = variance * (every - batch.basis @ batch.basis.mT)
        whole.append(replace(batch, rest=batch.rest + unexplained))
    return whole, variance


def _likeliest(batches: list[Batch], k: list[Tensor]) -> float:
    """Return the variance with the largest likelihood of the sources under v k."""
    total = []
    for variance in _VARIANCES:
        densities = [
            torch.distributions.MultivariateNormal(
                torch.zeros_like(batch.y), variance * every + batch.rest, validate_args=False
            ).log_prob(batch.y)
            for batch, every in zip(batches, k, strict=True)
        ]
        total.append(float(torch.cat(densities).sum()))
    return _VARIANCES[total.index(max(total))]
