"""What a neural acquisition function may look at: named features of a `Belief`.

The paper's are mean, std, x, step and budget. The others make late steps learnable: when regret is
1e-5, the means of all interesting points agree to four digits, but their expected improvements do
not. All are computed in float64 and cast once, by the network.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition.analytic import LogEI
from metabo.shapes import Float
from metabo.state import Belief


@dataclass(frozen=True)
class Feature:
    """A function of a belief, and the affine map that brings its values to about [-1, 1]."""

    values: Callable[[Belief], Tensor]
    """Gives `E N`, or `E N D` for a feature that has a value per dimension."""
    shift: float = 0.0
    scale: float = 1.0
    """Normalized values are (value - shift) * scale."""
    is_per_dimension: bool = False


def _everywhere(scalar: Tensor, belief: Belief) -> Tensor:
    """A number, or one per episode, repeated for every point."""
    return scalar.to(belief.mean.dtype)[..., None].expand_as(belief.mean)


def _improvement(belief: Belief) -> Tensor:
    return ((belief.mean - belief.best[:, None]) / belief.std).clamp(-10.0, 10.0)


def _novelty(belief: Belief) -> Tensor:
    """log10 of the distance to the nearest observation, -6 for repeats; 0 before the first."""
    if belief.history.x.shape[1] == 0:
        return torch.zeros_like(belief.mean)
    # Not by a matrix product: it cannot tell 1e-8 from 0.
    mode = "donot_use_mm_for_euclid_dist"
    nearest = torch.cdist(belief.x, belief.history.x, compute_mode=mode).amin(-1)
    return (nearest + 1e-6).log10()


FEATURES: dict[str, Feature] = {
    "mean": Feature(lambda b: b.mean),
    "std": Feature(lambda b: b.std),
    "x": Feature(lambda b: b.x, shift=0.5, scale=2.0, is_per_dimension=True),
    "step": Feature(lambda b: _everywhere(b.step.expand(len(b.best)), b), scale=1 / 30),
    "budget": Feature(lambda b: _everywhere(b.budget.expand(len(b.best)), b), scale=1 / 30),
    "progress": Feature(
        lambda b: _everywhere((b.step / b.budget).expand(len(b.best)), b), shift=0.5, scale=2.0
    ),
    "incumbent": Feature(lambda b: _everywhere(b.best, b)),
    "improvement": Feature(_improvement, scale=0.2),
    "log_std": Feature(lambda b: b.std.log(), shift=-4.0, scale=0.2),
    "log_ei": Feature(lambda b: LogEI()(b).clamp(-30.0, 5.0), shift=-5.0, scale=0.2),
    "novelty": Feature(_novelty, shift=-2.0, scale=0.4),
}


def columns(belief: Belief, names: tuple[str, ...]) -> Float[Tensor, "E N F"]:
    """The raw values of the named features, in order, side by side."""
    parts = [FEATURES[name].values(belief) for name in names]
    return torch.cat([p if p.ndim == 3 else p[..., None] for p in parts], -1)


def width(names: tuple[str, ...], dim: int) -> int:
    """How many columns the named features take in `dim` dimensions."""
    return sum(dim if FEATURES[name].is_per_dimension else 1 for name in names)


def normalization(names: tuple[str, ...], dim: int) -> Float[Tensor, "2 F"]:
    """Shift and scale of every column."""
    rows = []
    for name in names:
        feature = FEATURES[name]
        rows += [(feature.shift, feature.scale)] * (dim if feature.is_per_dimension else 1)
    return torch.tensor(rows, dtype=torch.float64).mT
