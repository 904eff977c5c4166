"""Features in units of what was observed: the same for f and for any a f + b with a > 0.

With the mean m and the variance v of the t values observed so far, a point with posterior
deviation std is judged relative to m and in units of

    s = sqrt(v + std^2 / max(t, 1)).

The variance of a few values is a poor estimate, and of one value it is 0; so the point's own
deviation counts as one more of them. Before the first observation m is the prior mean.

| symbol  | meaning                                                     | shape |
| ------- | ----------------------------------------------------------- | ----- |
| `centre`| m                                                           | E 1   |
| `unit`  | s                                                           | E N   |
| `share` | d log s / d log std, what of s is the point's own deviation | E N   |
"""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from metabo.acquisition.analytic import log_h_and_slope
from metabo.state import Belief

Pull = Callable[[Tensor], dict[str, Tensor]]


class Scale(NamedTuple):
    """How values are seen from each point."""

    centre: Tensor
    unit: Tensor
    share: Tensor


def scale(belief: Belief) -> Scale:
    """The scale of the values observed so far."""
    y, own = belief.history.y, belief.std.square()
    t = y.shape[-1]
    if t == 0:
        return Scale(belief.best.unsqueeze(-1), belief.std, own / own)
    own = own / t
    square = y.var(-1, correction=0, keepdim=True) + own
    return Scale(y.mean(-1, keepdim=True), square.sqrt(), own / square)


def relative_mean(belief: Belief) -> tuple[Tensor, Pull]:
    """(mean - m) / s."""
    centre, unit, share = scale(belief)
    value = (belief.mean - centre) / unit
    return value, lambda d: {"mean": d / unit, "log_std": -d * value * share}


def relative_incumbent(belief: Belief) -> tuple[Tensor, Pull]:
    """(best - m) / s."""
    centre, unit, share = scale(belief)
    value = (belief.best.unsqueeze(-1) - centre) / unit
    return value, lambda d: {"log_std": -d * value * share}


def relative_std(belief: Belief) -> tuple[Tensor, Pull]:
    """The deviation, std / s."""
    _, unit, share = scale(belief)
    value = belief.std / unit
    return value, lambda d: {"log_std": d * value * (1 - share)}


def relative_log_std(belief: Belief) -> tuple[Tensor, Pull]:
    """Its logarithm."""
    _, unit, share = scale(belief)
    return belief.log_std - unit.log(), lambda d: {"log_std": d * (1 - share)}


def relative_log_ei(belief: Belief) -> tuple[Tensor, Pull]:
    """The logarithm of EI / s, kept within [-30, 5]."""
    _, unit, share = scale(belief)
    log_h, slope = log_h_and_slope(belief.improvement)
    value = belief.log_std - unit.log() + log_h
    clamped = value.clamp(-30.0, 5.0)

    def pull(d: Tensor) -> dict[str, Tensor]:
        d = d * (value == clamped)
        return {"log_std": d * (1 - share), "improvement": d * slope}

    return clamped, pull
