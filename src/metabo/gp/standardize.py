"""The GP of a run that brings no prior: standardized values, hyperparameters found from them."""

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
"""What standardized values are multiples of."""


def least_to_fit(dim: int) -> int:
    """Observations below which there is too little to fit."""
    return max(3, dim + 1)


def default_prior(dim: int, kernel: KernelName = "matern52") -> Prior:
    """What is assumed of standardized values before a prior can be fitted."""
    return Prior.of([0.5] * dim, signal_variance=1.0, noise_variance=1e-6, kernel=kernel)


def standardized(y: Float[Tensor, "E t"]) -> Float[Tensor, "E t"]:
    """The values of each data set with mean 0 and deviation 1; equal ones become 0.

    They are rounded to 1e-12, so that f and a f + b nearly always give the same values to the bit
    where b is not much larger than f, and runs on them the same queries: a fit may choose among
    optima that differ by a rounding error.
    """
    if not y.shape[-1]:
        return y
    largest = y.abs().amax(-1, keepdim=True)
    # Divided by the largest first: the squares of very large or small values would leave the
    # range of floats.
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
    """The MAP prior of each data set of standardized values; the default before a few.

    Of more than 300 observations the nearest to the best one and a spread of the rest are used.
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
