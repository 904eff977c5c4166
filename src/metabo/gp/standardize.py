"""The GP of a run without a prior: standardized values, and hyperparameters fitted to them."""

from typing import Literal

import torch
from torch import Tensor

from metabo.gp.fit import Bounds, fit
from metabo.gp.hyperprior import HyperPrior
from metabo.gp.kernels import KernelName
from metabo.gp.prior import Prior
from metabo.gp.reduction import to_fit
from metabo.shapes import Float

_BOUNDS = Bounds(
    lengthscale=(0.05, 10.0),
    signal=(0.05, 20.0),
    noise=(1e-8, 0.1),
    start_lengthscale=(0.1, 2.0),
    start_signal=(1.0, 5.0),
    start_noise=(1e-6, 1e-2),
)
_GRAIN = 2.0**-40
"""Standardized values are rounded to multiples of this."""


def least_to_fit(dim: int) -> int:
    """Return the smallest number of observations that hyperparameters are fitted to.

    Examples:
        >>> least_to_fit(dim=2), least_to_fit(dim=6)
        (3, 7)
    """
    return max(3, dim + 1)


def default_prior(dim: int, kernel: KernelName = "matern52") -> Prior:
    """Return the prior of standardized values to use before one can be fitted.

    Examples:
        >>> default_prior(2).lengthscale.tolist()
        [[0.5, 0.5]]
    """
    return Prior.of([0.5] * dim, signal_variance=1.0, noise_variance=1e-6, kernel=kernel)


def standardized(y: Float[Tensor, "E t"]) -> Float[Tensor, "E t"]:
    """Shift and scale the values of each data set to mean 0 and standard deviation 1.

    Results are rounded to about 1e-12, so that f and a f + b (with b not much larger than f)
    nearly always give bitwise equal values and therefore the same queries. Without rounding, a fit
    could choose differently among optima that differ by a rounding error only.

    Returns:
        The standardized values; zeros for a data set whose values are all equal.

    Examples:
        >>> standardized(torch.tensor([[1.0, 3.0], [5.0, 5.0]], dtype=torch.float64)).tolist()
        [[-1.0, 1.0], [0.0, 0.0]]
    """
    if not y.shape[-1]:
        return y
    largest = y.abs().amax(-1, keepdim=True)
    # Divide by the largest first: the squares of very large or small values would overflow or
    # underflow.
    scaled = y / torch.where(largest > 0, largest, 1.0)
    centred = scaled - scaled.mean(-1, keepdim=True)
    deviation = centred.square().mean(-1, keepdim=True).sqrt()
    differ = deviation > 1e-15
    units = centred / torch.where(differ, deviation, 1.0)
    return torch.where(differ, (units / _GRAIN).round() * _GRAIN, 0.0)


def fitted_prior(
    x: Float[Tensor, "E t D"],
    y: Float[Tensor, "E t"],
    *,
    kernel: KernelName = "matern52",
    hyperprior: HyperPrior | Literal["usual"] | None = "usual",
) -> Prior:
    """Fit a prior to each data set of standardized values by MAP.

    With more than 300 observations, the fit uses those nearest to the best one and a spread of the
    rest.

    Args:
        x: Inputs of each data set.
        y: Values, standardized.
        kernel: Correlation function.
        hyperprior: Densities of the hyperparameters, `usual` for those of `HyperPrior.usual`; None
            for maximum likelihood.

    Returns:
        One row of hyperparameters per data set; `default_prior` if there are fewer than
        `least_to_fit` observations.

    Examples:
        >>> x = torch.linspace(0, 1, 8, dtype=torch.float64)[None, :, None]
        >>> fitted_prior(x, standardized((6 * x[..., 0]).sin())).kernel
        'matern52'
    """
    dim = x.shape[-1]
    least = least_to_fit(dim)
    if y.shape[-1] < least:
        return default_prior(dim, kernel).to(x.device)
    x, y = to_fit(x, y, least)
    return fit(
        x,
        y,
        kernel=kernel,
        bounds=_BOUNDS,
        hyperprior=HyperPrior.usual(dim) if hyperprior == "usual" else hyperprior,
        n_starts=32,
        n_climbs=2,
        iterations=60,
        tolerance=0.05,
    )
