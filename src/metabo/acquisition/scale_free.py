"""Features in units of the observed values: the same for f and for any a f + b with a > 0.

Values are measured relative to the mean m of the values observed so far, in units of their
standard deviation s. Until two of them differ, there is no such unit: then s is 1, the unit of the
model, and m is the best value, or the prior mean before any observation.

m and s are the same for all points of an episode. A unit that includes the point's own deviation
would be defined from the first observation on, but it would hide how uncertain a point is: next to
a single observation EI in such units is as large as anywhere, and runs get stuck there.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from metabo.acquisition.analytic import log_h_and_slope
from metabo.state import Belief

Pull = Callable[[Tensor], dict[str, Tensor]]
"""Map derivatives with respect to a feature to those of its ingredients, by name."""


def scale(belief: Belief) -> tuple[Tensor, Tensor]:
    """Return the centre m and the unit s of each episode's values, `E 1`."""
    y, best = belief.history.y, belief.best.unsqueeze(-1)
    if y.shape[-1] < 2:
        return best, torch.ones_like(best)
    variance, mean = torch.var_mean(y, -1, keepdim=True)
    differ = variance > 0
    return torch.where(differ, mean, best), torch.where(differ, variance, 1.0).sqrt()


def relative_mean(belief: Belief) -> tuple[Tensor, Pull]:
    """Compute the relative mean, (mean - m) / s, clamped to [-10, 10]."""
    centre, unit = scale(belief)
    value, keep = kept((belief.mean - centre) / unit, -10.0, 10.0)
    return value, lambda d: {"mean": keep(d) / unit}


def relative_incumbent(belief: Belief) -> tuple[Tensor, None]:
    """Compute the relative incumbent value, (best - m) / s."""
    centre, unit = scale(belief)
    return ((belief.best.unsqueeze(-1) - centre) / unit).expand_as(belief.mean), None


def relative_std(belief: Belief) -> tuple[Tensor, Pull]:
    """Compute the relative standard deviation, std / s, clamped to at most 10."""
    _, unit = scale(belief)
    value, keep = kept(belief.std / unit, 0.0, 10.0)
    return value, lambda d: {"std": keep(d) / unit}


def relative_log_std(belief: Belief) -> tuple[Tensor, Pull]:
    """Compute the logarithm of the relative standard deviation, clamped to [-30, 5]."""
    _, unit = scale(belief)
    value, keep = kept(belief.log_std - unit.log(), -30.0, 5.0)
    return value, lambda d: {"log_std": keep(d)}


def relative_log_ei(belief: Belief) -> tuple[Tensor, Pull]:
    """Compute the logarithm of EI / s, clamped to [-30, 30]."""
    _, unit = scale(belief)
    log_h, slope = log_h_and_slope(belief.improvement)
    value, keep = kept(belief.log_std - unit.log() + log_h, -30.0, 30.0)
    return value, lambda d: {"log_std": keep(d), "improvement": keep(d) * slope}


def kept(value: Tensor, low: float, high: float) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Return clamped values, and a function that zeroes derivatives where they were clamped."""
    clamped = value.clamp(low, high)
    return clamped, lambda d: d * (value == clamped)
