"""GP hyperparameters from data, by type-2 maximum likelihood or MAP, for many data sets at once.

The log marginal likelihood, plus a log density where one is given, is climbed in the logarithms of
lengthscales, signal variance and noise variance, from several Sobol starts, by `metabo.ascent`.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from metabo.ascent import ascend
from metabo.domain import sobol
from metabo.errors import DataError, ShapeError
from metabo.gp.hyperprior import HyperPrior
from metabo.gp.kernels import KernelName
from metabo.gp.likelihood import Likelihood
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


def fit(
    x: Float[Tensor, "E t D"],
    y: Float[Tensor, "E t"],
    *,
    kernel: KernelName = "rbf",
    mean: Literal["zero", "observed"] = "zero",
    bounds: Bounds | None = None,
    hyperprior: HyperPrior | None = None,
    jitter: float = JITTER,
    n_starts: int = 48,
    n_climbs: int = 6,
    iterations: int = 80,
    tolerance: float | None = None,
) -> Prior:
    """The prior under which each data set is likeliest, times its own density where there is one.

    Args:
        x: Inputs, one set per data set.
        y: Values.
        kernel: Correlation function.
        mean: Prior mean, as in `Prior`.
        bounds: Limits of the search.
        hyperprior: Densities of the hyperparameters; those of variances are of variances relative
            to that of the data set's values. Without it all are equally likely.
        jitter: Added to the diagonal, as in `Prior`.
        n_starts: Hyperparameters tried first: Sobol points, the same for each data set.
        n_climbs: How many of the best of them are climbed from.
        iterations: Likelihood gradients per climb.
        tolerance: Slope of the log likelihood per e-fold at which climbs end earlier.
    """
    _check(x, y)
    require_names(kernel, mean)
    n_sets, _, dim = x.shape
    bounds = bounds or Bounds()
    centred = y if mean == "zero" else y - y.mean(-1, keepdim=True)
    spread = centred.square().mean(-1)
    spread = torch.where(spread > 0, spread, 1.0)  # E; constant values have none
    likelihood = Likelihood(x, centred, kernel, jitter)
    # Variances are relative to the spread.
    offset = torch.nn.functional.pad(spread.log()[:, None].expand(-1, 2), (dim, 0))[:, None]

    def score(theta: Tensor) -> tuple[Tensor, Tensor]:  # E S P -> E S, E S P
        value, slope = likelihood(theta + offset)
        if hyperprior is None:
            return value, slope
        density, its_slope = hyperprior(theta)
        return value + density, slope + its_slope

    limits = [bounds.lengthscale] * dim + [bounds.signal, bounds.noise]
    starting = [bounds.start_lengthscale] * dim + [bounds.start_signal, bounds.start_noise]
    lower, upper = x.new_tensor(limits).log().unbind(-1)
    begin, end = x.new_tensor(starting).log().clamp(lower[:, None], upper[:, None]).unbind(-1)
    starts = begin + (end - begin) * sobol(n_starts, dim + 2, x.device, x.dtype)  # S P
    starts = starts.expand(n_sets, -1, -1)
    with torch.no_grad():
        first = likelihood.values(starts + offset)
        if hyperprior is not None:
            first = first + hyperprior(starts)[0]
        best = first.topk(min(n_climbs, n_starts), -1).indices  # E S
        chosen = starts.gather(1, best[..., None].expand(-1, -1, dim + 2))
        theta, value = ascend(
            score,
            chosen,
            lower=lower,
            upper=upper,
            unit=torch.ones_like(lower),  # one e-fold
            iterations=iterations,
            radius=0.5,
            tolerance=tolerance,
        )
        winner = value.argmax(-1)[:, None, None].expand(-1, 1, dim + 2)
        rows = (theta.gather(1, winner) + offset)[:, 0].exp()
        return Prior(rows[:, :dim], rows[:, -2], rows[:, -1], kernel, mean, jitter)


def _check(x: Tensor, y: Tensor) -> None:
    if x.ndim != 3 or x.shape[:-1] != y.shape or y.shape[-1] == 0:
        raise ShapeError(
            "`x` must be E t D and `y` E t with at least one observation, but got shapes "
            f"{tuple(x.shape)} and {tuple(y.shape)}."
        )
    if not bool(torch.isfinite(y).all() and torch.isfinite(x).all()):
        raise DataError("`x` and `y` must be finite, but there is NaN or infinity. Leave it out.")
