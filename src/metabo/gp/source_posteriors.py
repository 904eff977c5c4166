"""Posteriors of M finished data sets: what source tasks look like to a transfer method.

Notation (G = 1 where all data sets share inputs and hyperparameters, else G = M; A is the
covariance of the observations, L its Cholesky factor, n the points per data set):

| symbol    | meaning                                | shape   |
| --------- | -------------------------------------- | ------- |
| `x`, `y`  | observations                           | G n D, M n |
| `inverse` | L^-1, lower triangular                 | G n n   |
| `weights` | A^-1 (y - m), one column per data set  | G n M/G |
| `cross`   | k(x, points)                           | G n N   |

With G = 1 there is one factorization for all data sets, one row of covariances and one deviation
per point; each further data set costs a product with its column of weights.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.errors import ShapeError
from metabo.gp.kernels import correlation
from metabo.gp.posterior import VARIANCE_FLOOR
from metabo.gp.prior import Prior
from metabo.shapes import Float


@dataclass(frozen=True)
class SourcePosteriors:
    """M GP posteriors over the latent (noise-free) functions, all seen at the same points."""

    prior: Prior
    x: Float[Tensor, "G n D"]
    y: Float[Tensor, "M n"]
    inverse: Float[Tensor, "G n n"]
    weights: Float[Tensor, "G n m"]

    @classmethod
    def of(
        cls, prior: Prior, x: Float[Tensor, "#M n D"], y: Float[Tensor, "M n"]
    ) -> "SourcePosteriors":
        """Condition on data; one row of inputs and of hyperparameters is shared by all sets."""
        n_sets, n = y.shape
        rows = max(x.shape[0], prior.lengthscale.shape[0])
        if x.shape[1] != n or rows not in (1, n_sets) or x.shape[0] not in (1, rows):
            raise ShapeError(
                f"Inputs and hyperparameters must have one row or one per data set ({n_sets}), "
                f"with {n} points each, but got inputs of shape {tuple(x.shape)} and "
                f"{prior.lengthscale.shape[0]} rows of hyperparameters."
            )
        x = x.expand(rows, -1, -1)
        signal = prior.signal_variance[:, None, None]
        covariance = signal * correlation(prior.kernel, x, x, prior.lengthscale.expand(rows, -1))
        diagonal = prior.diagonal[:, None].expand(rows, n)
        factor = torch.linalg.cholesky(covariance + torch.diag_embed(diagonal))
        identity = torch.eye(n, dtype=y.dtype, device=y.device).expand(rows, -1, -1)
        inverse = torch.linalg.solve_triangular(factor, identity, upper=False)
        centred = (y - _means(prior, y)[:, None]).unflatten(0, (rows, -1)).mT  # G n m
        return cls(prior, x, y, inverse, inverse.mT @ (inverse @ centred))

    @property
    def size(self) -> int:
        """Covariances per point: G n."""
        return self.x.shape[0] * self.x.shape[1]

    def mean(self, x: Float[Tensor, "N D"]) -> Float[Tensor, "M N"]:
        """Posterior means at points `x`, differentiable in them."""
        return self._mean(self._cross(x))

    def predict(
        self, x: Float[Tensor, "N D"]
    ) -> tuple[Float[Tensor, "M N"], Float[Tensor, "G N"]]:
        """Means and standard deviations; the latter have one row where it is the same for all."""
        cross = self._cross(x)
        signal = self.prior.signal_variance[:, None]
        variance = signal - (self.inverse @ cross).square().sum(-2)
        # As in `GP.predict`: rounding can leave less than nothing at a data point.
        return self._mean(cross), torch.maximum(variance, VARIANCE_FLOOR * signal).sqrt()

    def to(self, device: torch.device | str) -> "SourcePosteriors":
        """The same posteriors on another device."""
        return SourcePosteriors(
            self.prior.to(device),
            self.x.to(device),
            self.y.to(device),
            self.inverse.to(device),
            self.weights.to(device),
        )

    def _cross(self, x: Tensor) -> Tensor:
        rows = self.x.shape[0]
        lengthscale = self.prior.lengthscale.expand(rows, -1)
        cross = correlation(self.prior.kernel, self.x, x.expand(rows, -1, -1), lengthscale)
        return self.prior.signal_variance[:, None, None] * cross

    def _mean(self, cross: Tensor) -> Tensor:
        return _means(self.prior, self.y)[:, None] + (self.weights.mT @ cross).flatten(0, 1)


def observed_means(
    prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"]
) -> Float[Tensor, "E t"]:
    """Posterior means at the observed points themselves: y - d A^-1 (y - m), d the diagonal.

    They differ from the values only as far as the prior takes part of these for noise.
    """
    covariance = prior.signal_variance[:, None, None] * correlation(
        prior.kernel, x, x, prior.lengthscale.expand(x.shape[0], -1)
    )
    diagonal = prior.diagonal[:, None].expand(y.shape)
    factor = torch.linalg.cholesky(covariance + torch.diag_embed(diagonal))
    centred = y - _means(prior, y)[:, None]
    return y - diagonal * torch.cholesky_solve(centred[..., None], factor)[..., 0]


def _means(prior: Prior, y: Tensor) -> Tensor:
    """The prior mean of each data set."""
    return y.new_zeros(y.shape[0]) if prior.mean == "zero" else y.mean(-1)
