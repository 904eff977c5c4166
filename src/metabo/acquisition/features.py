"""Inputs of a neural acquisition function: named features of a `Belief`.

The paper uses mean, std, x, step and budget. The others make late steps learnable: when regret is
1e-5, the means of all interesting points agree to four digits, but their expected improvements do
not. All are computed in float64 and cast once, by the network.

Each feature has a *pull*, which maps derivatives with respect to the feature to derivatives with
respect to its ingredients: `mean`, `std` and `x`, or z = (mean - best) / std and log std.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition.analytic import log_h_and_slope
from metabo.acquisition.scale_free import (
    Pull,
    kept,
    relative_incumbent,
    relative_log_ei,
    relative_log_std,
    relative_mean,
    relative_std,
)
from metabo.gp.kernels import square_distance
from metabo.shapes import Float
from metabo.state import Belief


@dataclass(frozen=True)
class Feature:
    """A function of a belief, and the affine map that scales its values to about [-1, 1]."""

    values: Callable[[Belief], tuple[Tensor, Pull | None]]
    """Computes the values, `E N` or with one value per dimension `E N D`, and their pull."""
    shift: float = 0.0
    """Offset of the normalization: normalized values are (value - shift) * scale."""
    scale: float = 1.0
    """Factor of the normalization: normalized values are (value - shift) * scale."""
    is_per_dimension: bool = False
    """Whether the feature has one value per input dimension."""


def _plain(quantity: str) -> Callable[[Belief], tuple[Tensor, Pull]]:
    """Use one of the belief's own quantities as a feature."""
    return lambda belief: (getattr(belief, quantity), lambda d: {quantity: d})


def _everywhere(scalar: Tensor, belief: Belief) -> tuple[Tensor, None]:
    """Repeat a number, or one number per episode (`E 1`), for every point."""
    return scalar.to(belief.mean.dtype).expand_as(belief.mean), None


def _remaining(belief: Belief) -> tuple[Tensor, None]:
    """Compute the logarithm of the number of evaluations left, including the next one."""
    return _everywhere((belief.budget - belief.step).clamp_min(1).double().log(), belief)


def _improvement(belief: Belief) -> tuple[Tensor, Pull]:
    value, keep = kept(belief.improvement, -10.0, 10.0)
    return value, lambda d: {"improvement": keep(d)}


def _log_ei(belief: Belief) -> tuple[Tensor, Pull]:
    log_h, slope = log_h_and_slope(belief.improvement)
    value, keep = kept(belief.log_std + log_h, -30.0, 5.0)

    def pull(d: Tensor) -> dict[str, Tensor]:
        d = keep(d)
        return {"log_std": d, "improvement": d * slope}

    return value, pull


def _novelty(belief: Belief) -> tuple[Tensor, Pull | None]:
    """Compute log10 of the distance to the nearest observation.

    The value is -6 at an observed point, and 0 before the first observation.
    """
    x, seen = belief.x, belief.history.x
    if seen.shape[1] == 0:
        return torch.zeros_like(belief.mean), None
    square, nearest = square_distance(seen, x).min(-2)
    square = square + 1e-12

    def pull(d: Tensor) -> dict[str, Tensor]:
        offset = x - seen.gather(1, nearest.unsqueeze(-1).expand_as(x))
        return {"x": offset * (d / (math.log(10) * square)).unsqueeze(-1)}

    return 0.5 * square.log10(), pull


def _on_learned(
    values: Callable[[Belief], tuple[Tensor, Pull | None]],
) -> Callable[[Belief], tuple[Tensor, Pull | None]]:
    """Compute a feature of the learned view; of the plain view if there is no other."""

    def learned(belief: Belief) -> tuple[Tensor, Pull | None]:
        if belief.learned is None:
            return values(belief)
        value, pull = values(belief.by_learned)
        if pull is None:
            return value, None
        return value, lambda d: {f"learned_{name}": part for name, part in pull(d).items()}

    return learned


def _guard(belief: Belief) -> tuple[Tensor, None]:
    """Repeat the weight of the plain prior; 1 if there is no other."""
    view = belief.learned
    weight = torch.ones_like(belief.best) if view is None else view.guard
    return _everywhere(weight.unsqueeze(-1), belief)


FEATURES: dict[str, Feature] = {
    "mean": Feature(_plain("mean")),
    "std": Feature(_plain("std")),
    "x": Feature(_plain("x"), shift=0.5, scale=2.0, is_per_dimension=True),
    "step": Feature(lambda b: _everywhere(b.step, b), scale=1 / 30),
    "budget": Feature(lambda b: _everywhere(b.budget, b), scale=1 / 30),
    "progress": Feature(lambda b: _everywhere(b.step / b.budget, b), shift=0.5, scale=2.0),
    "incumbent": Feature(lambda b: _everywhere(b.best.unsqueeze(-1), b)),
    "improvement": Feature(_improvement, scale=0.2),
    "log_std": Feature(_plain("log_std"), shift=-4.0, scale=0.2),
    "log_ei": Feature(_log_ei, shift=-5.0, scale=0.2),
    "novelty": Feature(_novelty, shift=-2.0, scale=0.4),
    "remaining": Feature(_remaining, shift=2.0, scale=0.5),
    "relative_mean": Feature(relative_mean, scale=0.3),
    "relative_std": Feature(relative_std),
    "relative_incumbent": Feature(relative_incumbent, shift=1.5, scale=0.5),
    "relative_log_std": Feature(relative_log_std, shift=-3.0, scale=0.3),
    "relative_log_ei": Feature(relative_log_ei, shift=-5.0, scale=0.2),
    "learned_mean": Feature(_on_learned(_plain("mean"))),
    "learned_improvement": Feature(_on_learned(_improvement), scale=0.2),
    "learned_log_std": Feature(_on_learned(_plain("log_std")), shift=-6.0, scale=0.2),
    "learned_log_ei": Feature(_on_learned(_log_ei), shift=-7.0, scale=0.2),
    "guard": Feature(_guard, shift=0.5, scale=2.0),
}
"""Features of a belief by name."""


def columns(belief: Belief, names: tuple[str, ...]) -> Float[Tensor, "E N F"]:
    """Return the raw values of the named features, in order, as columns."""
    return columns_and_pull(belief, names)[0]


def columns_and_pull(
    belief: Belief, names: tuple[str, ...]
) -> tuple[Float[Tensor, "E N F"], Callable[[Tensor], tuple[Tensor | None, ...]]]:
    """Return the columns, and a map from derivatives in them to those in the belief.

    The derivatives are those in mean, std and x, and in the learned view's mean and std: the
    arguments of a belief's pullback.
    """
    values, pulls = zip(*[FEATURES[name].values(belief) for name in names], strict=True)
    singles: list[Tensor] = []
    for value in values:
        singles += [value] if value.ndim == 2 else value.unbind(-1)

    def pull(d_columns: Tensor) -> tuple[Tensor | None, ...]:
        total: dict[str, Tensor] = {}
        single, first = d_columns.unbind(-1), 0
        for value, pull_one in zip(values, pulls, strict=True):
            last = first + (1 if value.ndim == 2 else value.shape[-1])
            if pull_one is not None:
                piece = single[first] if value.ndim == 2 else d_columns[..., first:last]
                for name, d in pull_one(piece).items():
                    total[name] = total[name] + d if name in total else d
            first = last
        d_x = total["x"] if "x" in total else torch.zeros_like(belief.x)
        own = {n.removeprefix("learned_"): d for n, d in total.items() if n.startswith("learned_")}
        of_learned = _pulled(belief.by_learned, own) if own else (None, None)
        return *_pulled(belief, total), d_x, *of_learned

    return torch.stack(singles, -1), pull


def _pulled(belief: Belief, total: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Map derivatives in mean, std, z and log std to those in mean and std."""
    zero = torch.zeros_like(belief.mean)
    d_mean, d_std = total.get("mean", zero), total.get("std", zero)
    d_z, d_log = total.get("improvement", zero), total.get("log_std", zero)
    d_log = torch.addcmul(d_log, d_z, belief.improvement, value=-1)
    return torch.addcdiv(d_mean, d_z, belief.std), torch.addcdiv(d_std, d_log, belief.std)


def width(names: tuple[str, ...], dim: int) -> int:
    """Return the number of columns of the named features in `dim` dimensions."""
    return sum(dim if FEATURES[name].is_per_dimension else 1 for name in names)


def normalization(names: tuple[str, ...], dim: int) -> Float[Tensor, "2 F"]:
    """Return the shift and the scale of every column."""
    rows = []
    for name in names:
        feature = FEATURES[name]
        rows += [(feature.shift, feature.scale)] * (dim if feature.is_per_dimension else 1)
    return torch.tensor(rows, dtype=torch.float64).mT
