"""Log-normal priors on GP hyperparameters.

Extreme hyperparameters explain a handful of points best: noise only, or the longest or shortest
lengthscale allowed. Maximizing likelihood times density (MAP) keeps the hyperparameters plausible,
and the data outweighs the density as soon as there is enough of it.
"""

import math
from dataclasses import dataclass

from torch import Tensor

from metabo.shapes import Float


@dataclass(frozen=True)
class LogNormal:
    """Log-normal density: log v ~ N(location, scale^2), with its mode at exp(location - scale^2).

    Examples:
        >>> LogNormal(location=0.0, scale=1.0)
        LogNormal(location=0.0, scale=1.0)
    """

    location: float
    """Mean of log v."""
    scale: float
    """Standard deviation of log v."""


@dataclass(frozen=True)
class HyperPrior:
    """Densities of lengthscales, signal variance and noise variance, for standardized values.

    Examples:
        >>> HyperPrior.usual(dim=2).noise
        LogNormal(location=-4.0, scale=3.0)
    """

    lengthscale: LogNormal
    """Density of the lengthscale of each dimension."""
    signal: LogNormal
    """Density of the signal variance, relative to the variance of the values."""
    noise: LogNormal
    """Density of the noise variance, relative to the variance of the values."""

    @classmethod
    def usual(cls, dim: int) -> "HyperPrior":
        """Return BoTorch's lengthscale density, which scales with sqrt(D), and wide variances.

        The density of the lengthscales is that of Hvarfner et al. (2024). BoTorch has no signal
        variance; the density of this one is largest at 1, the variance of the values. BoTorch's
        noise, LogNormal(-4, 1), assumes a standard deviation of about 8 %, which keeps runs on
        noise-free values from converging; this density is three times as wide.
        """
        return cls(
            LogNormal(math.sqrt(2) + 0.5 * math.log(dim), math.sqrt(3)),
            LogNormal(4.0, 2.0),
            LogNormal(-4.0, 3.0),
        )

    def __call__(
        self, theta: Float[Tensor, "E S P"]
    ) -> tuple[Float[Tensor, "E S"], Float[Tensor, "E S P"]]:
        """Return log densities up to a constant, and their gradients.

        Args:
            theta: Logarithms of D lengthscales, the signal variance and the noise variance.
        """
        parts = [self.lengthscale] * (theta.shape[-1] - 2) + [self.signal, self.noise]
        location = theta.new_tensor([part.location for part in parts])
        precision = theta.new_tensor([part.scale**-2 for part in parts])
        pull = (theta - location) * precision
        value = -(0.5 * pull * (theta - location) + theta).sum(-1)
        return value, -pull - 1
