"""How to interpolate sources between the points at which they were evaluated.

Errors count most where a source is high, because that is where the next task will be evaluated.
"""

from dataclasses import dataclass

from torch import Tensor

from metabo.gp import Prior
from metabo.gp.kernels import KernelName, correlation
from metabo.gp.learned import inverse_covariance, level_of
from metabo.shapes import Float

_STRETCHES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
"""Multiples of the prior's lengthscales to try."""
_HIGH = 0.1
"""Share of the points of a source at which errors count fully, about; elsewhere they count less.

With this share h, the square of an error at the point of rank r among n counts 1 / (1 + r / hn).
"""
_KERNELS: tuple[KernelName, ...] = ("rbf", "matern52", "matern32")
"""Kernels to try."""


@dataclass(frozen=True)
class Interpolation:
    """A kernel, its lengthscales, and how well they interpolate the sources."""

    kernel: KernelName
    """Kernel of the interpolation."""
    lengthscale: Float[Tensor, "1 D"]
    """Lengthscale in each dimension."""
    error: Float[Tensor, " N"]
    """Root mean square over the sources of the error at each point that was held out, weighted."""

    @classmethod
    def best(
        cls,
        prior: Prior,
        x: Float[Tensor, "Z D"],
        y: Float[Tensor, "M Z"],
        checks: Float[Tensor, "N D"],
        y_checks: Float[Tensor, "M N"],
    ) -> "Interpolation":
        """Return the interpolation from `x` that errs least at the points `checks`."""
        tried = []
        rank = y_checks.argsort(-1, descending=True).argsort(-1)
        weight = 1 / (1 + rank / (_HIGH * y_checks.shape[1]))
        for kernel in _KERNELS:
            for stretch in _STRETCHES:
                lengthscale = stretch * prior.lengthscale[:1]
                inverse = inverse_covariance(x, kernel, lengthscale)
                level = level_of(y.mean(0), inverse)
                weights = (y - level) @ inverse
                known = weights @ correlation(kernel, x, checks, lengthscale[0]) + level
                error = (weight * (known - y_checks).square()).mean(0).sqrt()
                tried.append(cls(kernel, lengthscale, error))
        # The logarithm, so that a few points on a cliff do not decide.
        return min(tried, key=lambda one: float((one.error + 1e-150).log().mean()))
