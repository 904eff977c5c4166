"""The log marginal likelihood of data under GP hyperparameters, and its gradient.

The log marginal likelihood is -1/2 z' A^-1 z - 1/2 log |A| - t/2 log 2 pi, where z = y - m and A
is the covariance of the observations. Its derivative along dA is 1/2 tr((a a' - A^-1) dA) with
a = A^-1 z.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from metabo.gp.kernels import WITH_SLOPES, KernelName, correlation
from metabo.gp.prior import SIGNAL_FLOOR, Prior
from metabo.shapes import Float

_FEW_DIMENSIONS = 20
"""Number of dimensions up to which the D t^2 squared differences are stored.

In more dimensions reading them takes longer than multiplying the points: there r^2 is computed as
|a|^2 + |b|^2 - 2ab, accurate to 1e-11.
"""
_PAIRS = 2**20
"""Covariances of a data set computed at once if only values are needed: 8 MB, and some copies."""


def log_likelihood(
    prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"]
) -> Float[Tensor, " E"]:
    """Return the log marginal likelihood of each data set under the prior, jitter included.

    Examples:
        >>> prior = Prior.of([0.5], signal_variance=1.0, noise_variance=0.0)
        >>> x = torch.tensor([[[0.5]]], dtype=torch.float64)
        >>> y = torch.zeros(1, 1, dtype=torch.float64)
        >>> round(float(log_likelihood(prior, x, y)), 4)  # -log(2 pi) / 2
        -0.9189
    """
    covariance = prior.signal_variance[:, None, None] * correlation(
        prior.kernel, x, x, prior.lengthscale
    )
    diagonal = prior.diagonal[:, None].expand(y.shape)
    factor = torch.linalg.cholesky_ex(covariance + torch.diag_embed(diagonal)).L
    centred = y if prior.mean == "zero" else y - y.mean(-1, keepdim=True)
    white = torch.linalg.solve_triangular(factor, centred[..., None], upper=False)[..., 0]
    log_determinant = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return -0.5 * (white.square().sum(-1) + log_determinant + y.shape[-1] * math.log(2 * math.pi))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The log likelihood of E data sets as a function of S sets of hyperparameters each.

    The gradient is written out by hand: with autograd a fit would take several times as long.
    """

    x: Float[Tensor, "E t D"]
    """Inputs of each data set."""
    z: Float[Tensor, "E t"]
    """Values of each data set minus their prior mean."""
    kernel: KernelName
    """Name of the correlation function."""
    jitter: float
    """Constant added to the diagonal of the covariance, beside the noise."""

    def __call__(
        self, theta: Float[Tensor, "E S P"]
    ) -> tuple[Float[Tensor, "E S"], Float[Tensor, "E S P"]]:
        """Return log likelihoods (-inf where they cannot be computed) and their gradients.

        Args:
            theta: Logarithms of D lengthscales, the signal variance and the noise variance.
        """
        value, gradient = self._evaluated(theta)
        return value, gradient()

    def values(self, theta: Float[Tensor, "E S P"]) -> Float[Tensor, "E S"]:
        """Return log likelihoods only, in a third of the time and memory independent of S."""
        size = max(1, _PAIRS // self.z.shape[-1] ** 2)
        return torch.cat([self._evaluated(part)[0] for part in theta.split(size, 1)], 1)

    def _evaluated(self, theta: Tensor) -> tuple[Tensor, Callable[[], Tensor]]:
        """Return the values, and a function that computes their gradients."""
        dim, t = self.x.shape[-1], self.z.shape[-1]
        precision = (-2 * theta[..., :dim]).exp()  # E S D
        signal, noise = theta[..., dim:].exp().split(1, -1)  # E S 1
        floor = SIGNAL_FLOOR * signal
        diagonal = torch.maximum(noise + self.jitter, floor)
        r2 = self._distances(precision)  # E S tt
        correlations, slopes = WITH_SLOPES[self.kernel](r2)
        covariance = (signal * correlations).unflatten(-1, (t, t))
        covariance.diagonal(dim1=-2, dim2=-1).add_(diagonal)
        factor, info = torch.linalg.cholesky_ex(covariance)
        column = self.z[:, None, :, None].expand(-1, theta.shape[1], -1, -1)
        white = torch.linalg.solve_triangular(factor, column, upper=False)
        quadratic = white.square().sum((-2, -1))
        log_determinant = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        value = -0.5 * (quadratic + log_determinant + t * math.log(2 * math.pi))
        value = value.masked_fill((info > 0) | value.isnan(), -torch.inf)

        def gradient() -> Tensor:
            weights = torch.linalg.solve_triangular(factor.mT, white, upper=True)  # E S t 1
            change = weights * weights.mT - torch.cholesky_inverse(factor)  # E S t t
            d_precision = self._sums(change.flatten(-2) * slopes)
            trace = change.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
            # tr(change A) is known, and A minus its diagonal is the contribution of the signal.
            d_signal = 0.5 * (quadratic.unsqueeze(-1) - t - trace * diagonal)
            d_diagonal, is_floor = 0.5 * trace, diagonal == floor
            return torch.cat(
                [
                    -signal * precision * d_precision,
                    torch.where(is_floor, d_signal + d_diagonal * floor, d_signal),
                    torch.where(is_floor, 0.0, d_diagonal * noise),
                ],
                -1,
            )

        return value, gradient

    def _distances(self, precision: Float[Tensor, "E S D"]) -> Float[Tensor, "E S tt"]:
        """Return r^2 of all pairs of points."""
        if self.x.shape[-1] <= _FEW_DIMENSIONS:
            return precision @ self._squares
        at = self._centred.unsqueeze(1) * precision.sqrt().unsqueeze(-2)  # E S t D
        norm = at.square().sum(-1)
        r2 = norm.unsqueeze(-1) + norm.unsqueeze(-2) - 2 * (at @ at.mT)
        return r2.clamp_min(0).flatten(-2)

    def _sums(self, weight: Float[Tensor, "E S tt"]) -> Float[Tensor, "E S D"]:
        """Return the weighted sum of all pairs' squared differences in each coordinate."""
        if self.x.shape[-1] <= _FEW_DIMENSIONS:
            return weight @ self._squares.mT
        t, at = self.z.shape[-1], self._centred.unsqueeze(1)  # E 1 t D
        square = weight.unflatten(-1, (t, t))  # E S t t, symmetric
        return 2 * ((square.sum(-1, keepdim=True) * at - square @ at) * at).sum(-2)

    @cached_property
    def _centred(self) -> Float[Tensor, "E t D"]:
        return self.x - self.x.mean(-2, keepdim=True)

    @cached_property
    def _squares(self) -> Float[Tensor, "E D tt"]:
        """Squared differences of all pairs of points in each coordinate."""
        columns = self.x.mT
        return (columns[..., :, None] - columns[..., None, :]).square().flatten(-2)
