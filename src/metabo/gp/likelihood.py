"""How likely data is under GP hyperparameters.

The log marginal likelihood is -1/2 z' A^-1 z - 1/2 log |A| - t/2 log 2 pi, where z = y - m and A
is the covariance of the observations. Its derivative along dA is 1/2 tr((a a' - A^-1) dA) with
a = A^-1 z.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from metabo.gp.kernels import WITH_SLOPES, KernelName, correlation
from metabo.gp.prior import SIGNAL_FLOOR, Prior
from metabo.shapes import Float


def log_likelihood(
    prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"]
) -> Float[Tensor, " E"]:
    """Log marginal likelihood of each data set under the prior, its jitter included."""
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

    It gives its gradient along, written out: recorded operation by operation, a fit would take
    several times as long.
    """

    x: Float[Tensor, "E t D"]
    z: Float[Tensor, "E t"]
    """Values less their prior mean."""
    kernel: KernelName
    jitter: float

    def __call__(
        self, theta: Float[Tensor, "E S P"]
    ) -> tuple[Float[Tensor, "E S"], Float[Tensor, "E S P"]]:
        """Values, -inf where they cannot be computed, and gradients.

        `theta` holds the logarithms of D lengthscales, signal variance and noise variance.
        """
        numbers = theta.exp()
        scales, signal, noise = numbers.split([self.x.shape[-1], 1, 1], -1)
        precision = scales.square().reciprocal()  # E S D
        r2 = precision @ self._squares  # E S tt
        correlations, slopes = WITH_SLOPES[self.kernel](r2)
        signals = signal * correlations  # E S tt
        floor = SIGNAL_FLOOR * signal
        diagonal = torch.maximum(noise + self.jitter, floor)  # E S 1
        t = self.z.shape[-1]
        covariance = signals.unflatten(-1, (t, t)) + torch.diag_embed(diagonal.expand(-1, -1, t))
        factor, info = torch.linalg.cholesky_ex(covariance)
        column = self.z[:, None, :, None].expand(-1, theta.shape[1], -1, -1)
        white = torch.linalg.solve_triangular(factor, column, upper=False)
        weights = torch.linalg.solve_triangular(factor.mT, white, upper=True)  # E S t 1
        log_determinant = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        constant = t * math.log(2 * math.pi)
        value = -0.5 * (white.square().sum((-2, -1)) + log_determinant + constant)
        value = value.masked_fill((info > 0) | value.isnan(), -torch.inf)

        change = 0.5 * (weights * weights.mT - torch.cholesky_inverse(factor))  # E S t t
        flat = change.flatten(-2)
        d_scales = -2 * signal * precision * ((flat * slopes) @ self._squares.mT)
        trace = change.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
        is_floor = diagonal == floor
        d_signal = (flat * signals).sum(-1, keepdim=True) + trace * floor * is_floor
        d_noise = trace * noise * ~is_floor
        return value, torch.cat([d_scales, d_signal, d_noise], -1)

    @cached_property
    def _squares(self) -> Float[Tensor, "E D tt"]:
        """Squared differences of all pairs of points, coordinate by coordinate."""
        columns = self.x.mT
        return (columns[..., :, None] - columns[..., None, :]).square().flatten(-2)
