"""Features in units of what was observed: the same for f and for any a f + b with a > 0.

A value is judged relative to the mean m of the values observed so far and in units of their
standard deviation s. Before two of them differ there is no such unit: then s is 1, the unit that
the model has, and m is the best value, or the prior mean before any.

m and s are the same for all points of an episode. A unit with the point's own deviation in it
would be defined from the first observation on, but it would hide how uncertain a point is: beside
a lone observation EI in such units is as large as anywhere, and runs get stuck there.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from metabo.acquisition.analytic import log_h_and_slope
from metabo.state import Belief

Pull = Callable[[Tensor], dict[str, Tensor]]


def scale(belief: Belief) -> tuple[Tensor, Tensor]:
    """The centre m and the unit s of each episode's values, `E 1`."""
    y, best = belief.history.y, belief.best.unsqueeze(-1)
    if y.shape[-1] < 2:
        return best, torch.ones_like(best)
    variance, mean = torch.var_mean(y, -1, keepdim=True)
    differ = variance > 0
    return torch.where(differ, mean, best), torch.where(differ, variance, 1.0).sqrt()


def relative_mean(belief: Belief) -> tuple[Tensor, Pull]:
    """(mean - m) / s, kept within [-10, 10]."""
    centre, unit = scale(belief)
    value, keep = kept((belief.mean - centre) / unit, -10.0, 10.0)
    return value, lambda d: {"mean": keep(d) / unit}


def relative_incumbent(belief: Belief) -> tuple[Tensor, None]:
    """(best - m) / s."""
    centre, unit = scale(belief)
    return ((belief.best.unsqueeze(-1) - centre) / unit).expand_as(belief.mean), None


def relative_std(belief: Belief) -> tuple[Tensor, Pull]:
    """The deviation, std / s, at most 10."""
    _, unit = scale(belief)
    value, keep = kept(belief.std / unit, 0.0, 10.0)
    return value, lambda d: {"std": keep(d) / unit}


def relative_log_std(belief: Belief) -> tuple[Tensor, Pull]:
    """Its logarithm, kept within [-30, 5]."""
    _, unit = scale(belief)
    value, keep = kept(belief.log_std - unit.log(), -30.0, 5.0)
    return value, lambda d: {"log_std": keep(d)}


def relative_log_ei(belief: Belief) -> tuple[Tensor, Pull]:
    """The logarithm of EI / s, kept within [-30, 30]."""
    _, unit = scale(belief)
    log_h, slope = log_h_and_slope(belief.improvement)
    value, keep = kept(belief.log_std - unit.log() + log_h, -30.0, 30.0)
    return value, lambda d: {"log_std": keep(d), "improvement": keep(d) * slope}


def kept(value: Tensor, low: float, high: float) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Clamped values, and what sets derivatives to zero where they were clamped."""
    clamped = value.clamp(low, high)
    return clamped, lambda d: d * (value == clamped)
