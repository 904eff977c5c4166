"""What is expected of GP hyperparameters before any data: log-normal densities.

A handful of points is explained best by extremes: noise only, or a lengthscale as long or as short
as allowed. Maximizing likelihood times density (MAP) keeps to what is plausible, and the data has
its way as soon as there is enough of it.
"""

import math
from dataclasses import dataclass

from torch import Tensor

from metabo.shapes import Float


@dataclass(frozen=True)
class LogNormal:
    """log v ~ N(location, scale^2); the density of v itself is largest at exp(m - s^2)."""

    location: float
    scale: float


@dataclass(frozen=True)
class HyperPrior:
    """Densities of lengthscales, signal variance and noise variance, for standardized values."""

    lengthscale: LogNormal
    """Of each dimension."""
    signal: LogNormal
    noise: LogNormal

    @classmethod
    def usual(cls, dim: int) -> "HyperPrior":
        """BoTorch's lengthscales, which grow with sqrt(D), and wide densities of the variances.

        The lengthscales are those of Hvarfner et al. (2024). BoTorch has no signal variance; this
        one's density is largest at 1, the variance of the values. BoTorch's noise, LogNormal(-4,
        1), takes a deviation of 8 % for granted, which keeps runs on noise-free values from
        closing in; this one is three times as wide.
        """
        return cls(
            LogNormal(math.sqrt(2) + 0.5 * math.log(dim), math.sqrt(3)),
            LogNormal(4.0, 2.0),
            LogNormal(-4.0, 3.0),
        )

    def __call__(
        self, theta: Float[Tensor, "E S P"]
    ) -> tuple[Float[Tensor, "E S"], Float[Tensor, "E S P"]]:
        """Log densities up to a constant, and their gradients.

        `theta` holds the logarithms of D lengthscales, signal variance and noise variance.
        """
        parts = [self.lengthscale] * (theta.shape[-1] - 2) + [self.signal, self.noise]
        location = theta.new_tensor([part.location for part in parts])
        precision = theta.new_tensor([part.scale**-2 for part in parts])
        pull = (theta - location) * precision
        value = -(0.5 * pull * (theta - location) + theta).sum(-1)
        return value, -pull - 1
