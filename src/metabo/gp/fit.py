"""Fitting of GP hyperparameters, by type-2 maximum likelihood or MAP, to many data sets at once.

`metabo.ascent` maximizes the log marginal likelihood, plus a log density if one is given, over the
logarithms of lengthscales, signal variance and noise variance, from several Sobol starts.
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
    """Ranges of the hyperparameters; variances are relative to that of the data set's values."""

    lengthscale: Range = (0.01, 100.0)
    """Allowed range of each lengthscale."""
    signal: Range = (1e-3, 1e4)
    """Allowed range of the relative signal variance."""
    noise: Range = (1e-16, 1.0)
    """Allowed range of the relative noise variance."""
    start_lengthscale: Range = (0.05, 2.0)
    """Range from which starting lengthscales are drawn."""
    start_signal: Range = (0.3, 30.0)
    """Range from which starting signal variances are drawn."""
    start_noise: Range = (1e-10, 1e-3)
    """Range from which starting noise variances are drawn."""


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
    """Fit a prior to each data set, by maximum likelihood or (with a `hyperprior`) MAP.

    Args:
        x: Inputs, one set per data set.
        y: Values at these inputs.
        kernel: Correlation function.
        mean: Prior mean, as in `Prior`.
        bounds: Limits of the search; the defaults of `Bounds` if None.
        hyperprior: Densities of the hyperparameters, where variances are relative to that of the
            data set's values. If None, all hyperparameters are equally likely.
        jitter: Added to the diagonal, as in `Prior`.
        n_starts: Number of hyperparameter settings tried first: Sobol points, the same for each
            data set.
        n_climbs: Number of the best of them from which to climb.
        iterations: Likelihood gradients per climb.
        tolerance: Slope of the log likelihood per e-fold below which climbs end early.

    Returns:
        A prior with one row of hyperparameters per data set.

    Raises:
        ShapeError: If the shapes of `x` and `y` do not match, or there are no observations.
        DataError: If `x` or `y` holds NaN or infinity.

    Examples:
        >>> x = torch.linspace(0, 1, 12, dtype=torch.float64)[None, :, None]
        >>> prior = fit(x, (6 * x[..., 0]).sin())
        >>> prior.lengthscale.shape, bool(prior.noise_variance < 1e-3)
        (torch.Size([1, 1]), True)
    """
    _check(x, y)
    require_names(kernel, mean)
    n_sets, _, dim = x.shape
    bounds = bounds or Bounds()
    centred = y if mean == "zero" else y - y.mean(-1, keepdim=True)
    spread = centred.square().mean(-1)
    spread = torch.where(spread > 0, spread, 1.0)  # E; constant values have no spread
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
        raise DataError(
            "`x` and `y` must be finite, but contain NaN or infinity. Leave those observations "
            "out."
        )
