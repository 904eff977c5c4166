"""Posteriors of M finished data sets: the source tasks of a transfer method.

Notation (G = 1 if all data sets share inputs and hyperparameters, else G = M; A is the covariance
of the observations, L its Cholesky factor, n the number of points per data set):

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
    """M GP posteriors over the latent (noise-free) functions, predicted at the same points.

    Examples:
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> x = torch.tensor([[[0.2], [0.8]]], dtype=torch.float64)
        >>> y = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
        >>> sources = SourcePosteriors.of(prior, x, y)
        >>> sources.mean(torch.tensor([[0.2]], dtype=torch.float64)).round(decimals=4).tolist()
        [[0.0], [1.0]]
    """

    prior: Prior
    """Hyperparameters, shared by all data sets or one row for each."""
    x: Float[Tensor, "G n D"]
    """Inputs, shared by all data sets or one set for each."""
    y: Float[Tensor, "M n"]
    """Values of each data set."""
    inverse: Float[Tensor, "G n n"]
    """Inverse L^-1 of the Cholesky factor of the observations' covariance."""
    weights: Float[Tensor, "G n m"]
    """A^-1 (y - m), one column per data set."""

    @classmethod
    def of(
        cls, prior: Prior, x: Float[Tensor, "#M n D"], y: Float[Tensor, "M n"]
    ) -> "SourcePosteriors":
        """Condition on data; a single row of inputs or hyperparameters is shared by all sets.

        Raises:
            ShapeError: If the inputs or the prior have another number of rows than 1 or M.
        """
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
        """Number of covariances per predicted point, G n."""
        return self.x.shape[0] * self.x.shape[1]

    def mean(self, x: Float[Tensor, "N D"]) -> Float[Tensor, "M N"]:
        """Return the posterior means at the points `x`, differentiable with respect to them."""
        return self._mean(self._cross(x))

    def predict(
        self, x: Float[Tensor, "N D"]
    ) -> tuple[Float[Tensor, "M N"], Float[Tensor, "G N"]]:
        """Return means and standard deviations; the latter have one row if all data sets agree."""
        cross = self._cross(x)
        signal = self.prior.signal_variance[:, None]
        variance = signal - (self.inverse @ cross).square().sum(-2)
        # As in `GP.predict`: rounding can make the variance negative at a data point.
        return self._mean(cross), torch.maximum(variance, VARIANCE_FLOOR * signal).sqrt()

    def to(self, device: torch.device | str) -> "SourcePosteriors":
        """Return the same posteriors on another device."""
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
    """Return the posterior means at the observed points, y - d A^-1 (y - m) with diagonal d.

    They differ from the values only insofar as the prior attributes part of these to noise.

    Examples:
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=1.0)
        >>> x, y = torch.full((1, 1, 1), 0.5).double(), torch.ones(1, 1).double()
        >>> round(float(observed_means(prior, x, y)), 4)  # half of it is noise
        0.5
    """
    covariance = prior.signal_variance[:, None, None] * correlation(
        prior.kernel, x, x, prior.lengthscale.expand(x.shape[0], -1)
    )
    diagonal = prior.diagonal[:, None].expand(y.shape)
    factor = torch.linalg.cholesky(covariance + torch.diag_embed(diagonal))
    centred = y - _means(prior, y)[:, None]
    return y - diagonal * torch.cholesky_solve(centred[..., None], factor)[..., 0]


def _means(prior: Prior, y: Tensor) -> Tensor:
    """Return the prior mean of each data set."""
    return y.new_zeros(y.shape[0]) if prior.mean == "zero" else y.mean(-1)
