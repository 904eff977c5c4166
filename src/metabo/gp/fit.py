"""Type-2 maximum likelihood: GP hyperparameters from data, for many data sets at once.

The log marginal likelihood is -1/2 (y - m)' A^-1 (y - m) - 1/2 log |A| - t/2 log 2 pi. It is
climbed in the logarithms of lengthscales, signal variance and noise variance, from several Sobol
starts, by `metabo.ascent`.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from metabo.ascent import ascend, differentiated
from metabo.domain import sobol
from metabo.errors import DataError, ShapeError
from metabo.gp.kernels import KernelName, correlation
from metabo.gp.prior import JITTER, Prior, require_names
from metabo.options import Range
from metabo.shapes import Float


@dataclass(frozen=True)
class Bounds:
    """Where hyperparameters may lie; variances are relative to that of the data set's values."""

    lengthscale: Range = (0.01, 100.0)
    signal: Range = (1e-3, 1e4)
    noise: Range = (1e-16, 1.0)
    start_lengthscale: Range = (0.05, 2.0)
    """Where starts are drawn from; likewise below."""
    start_signal: Range = (0.3, 30.0)
    start_noise: Range = (1e-10, 1e-3)


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


def fit(
    x: Float[Tensor, "E t D"],
    y: Float[Tensor, "E t"],
    *,
    kernel: KernelName = "rbf",
    mean: Literal["zero", "observed"] = "zero",
    bounds: Bounds | None = None,
    jitter: float = JITTER,
    n_starts: int = 48,
    n_climbs: int = 6,
    iterations: int = 80,
) -> Prior:
    """The prior under which each data set is likeliest.

    Args:
        x: Inputs, one set per data set.
        y: Values.
        kernel: Correlation function.
        mean: Prior mean, as in `Prior`.
        bounds: Limits of the search.
        jitter: Added to the diagonal, as in `Prior`.
        n_starts: Hyperparameters tried first: Sobol points, the same for each data set.
        n_climbs: How many of the best of them are climbed from.
        iterations: Likelihood gradients per climb.
    """
    _check(x, y)
    require_names(kernel, mean)
    n_sets, _, dim = x.shape
    bounds = bounds or Bounds()
    spread = (y if mean == "zero" else y - y.mean(-1, keepdim=True)).square().mean(-1)
    spread = torch.where(spread > 0, spread, 1.0)  # E; constant values have none

    def unpack(theta: Tensor) -> Prior:  # E S P -> a prior of E * S rows
        rows = theta.flatten(0, 1).exp()
        scale = spread.repeat_interleave(theta.shape[1])
        return Prior(rows[:, :dim], rows[:, -2] * scale, rows[:, -1] * scale, kernel, mean, jitter)

    def score(theta: Tensor) -> Tensor:  # E S P -> E S
        n = theta.shape[1]
        values = log_likelihood(
            unpack(theta), x.repeat_interleave(n, 0), y.repeat_interleave(n, 0)
        )
        return values.unflatten(0, (n_sets, n)).nan_to_num(nan=-torch.inf)

    limits = [bounds.lengthscale] * dim + [bounds.signal, bounds.noise]
    starting = [bounds.start_lengthscale] * dim + [bounds.start_signal, bounds.start_noise]
    lower, upper = x.new_tensor(limits).log().unbind(-1)
    begin, end = x.new_tensor(starting).log().clamp(lower[:, None], upper[:, None]).unbind(-1)
    starts = begin + (end - begin) * sobol(n_starts, dim + 2, x.device, x.dtype)  # S P
    starts = starts.expand(n_sets, -1, -1)
    with torch.no_grad():
        best = score(starts).topk(min(n_climbs, n_starts), -1).indices  # E S
        chosen = starts.gather(1, best[..., None].expand(-1, -1, dim + 2))
        theta, value = ascend(
            differentiated(score),
            chosen,
            lower=lower,
            upper=upper,
            unit=torch.ones_like(lower),  # one e-fold
            iterations=iterations,
            radius=0.5,
        )
        winner = value.argmax(-1)[:, None, None].expand(-1, 1, dim + 2)
        return unpack(theta.gather(1, winner))


def _check(x: Tensor, y: Tensor) -> None:
    if x.ndim != 3 or x.shape[:-1] != y.shape or y.shape[-1] == 0:
        raise ShapeError(
            "`x` must be E t D and `y` E t with at least one observation, but got shapes "
            f"{tuple(x.shape)} and {tuple(y.shape)}."
        )
    if not bool(torch.isfinite(y).all() and torch.isfinite(x).all()):
        raise DataError("`x` and `y` must be finite, but there is NaN or infinity. Leave it out.")
