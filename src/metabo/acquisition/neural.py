"""The neural acquisition function: an MLP that scores points one at a time."""

import math
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn

from metabo.acquisition.base import Slopes
from metabo.acquisition.features import (
    FEATURES,
    columns,
    columns_and_pull,
    normalization,
    width,
)
from metabo.acquisition.perceptron import (
    ACTIVATIONS,
    initialize,
    mlp,
    score_and_gradient,
    scores,
)
from metabo.errors import OptionError, ShapeError, unknown
from metabo.shapes import Float
from metabo.state import Belief

_SCORED = {"cpu": 2**18, "cuda": 2**26}
"""Numbers of a hidden layer at once: on a CPU they stay in a core's cache between two layers, on a
device they are enough to be busy."""
_LEARNED = {"cpu": 2**20, "cuda": 2**24}
"""Likewise where all layers are kept for a gradient: they leave a core's cache anyway."""


@dataclass(frozen=True)
class Architecture:
    """All that is needed to build a `NeuralAF` but its weights."""

    dim: int
    """Dimensions of the points; without the feature `x` the AF serves any other number too."""
    features: tuple[str, ...] = ("mean", "std", "x", "step", "budget")
    hidden: tuple[int, ...] = (200, 200, 200, 200)
    activation: str = "relu"
    normalize: bool = False
    """Whether features are brought to about [-1, 1] first. The paper's are raw."""
    init: Literal["paper", "orthogonal"] = "paper"
    """N(0, 0.01^2) weights, or orthogonal ones, sqrt 2 long (last layer 0.01); biases are 0."""
    feature_scale: float = 1.0
    """Factor on all features: a network that sees large differences learns fine detail sooner."""
    residual: str | None = None
    """A feature that is added to the network's output, which then learns what to change: training
    starts from the posterior mean with `mean`, and from EI with `relative_log_ei`."""
    residual_weight: float = 1.0
    """Its factor. Sampled by the softmax of w log EI, a point is chosen in proportion to EI^w."""

    def __post_init__(self) -> None:
        """Check the names and sizes."""
        for name in self.features:
            if name not in FEATURES:
                raise unknown("feature", name, FEATURES)
        if not self.features or len(set(self.features)) < len(self.features):
            raise OptionError(
                f"`features` must name at least one feature, each once: {self.features}."
            )
        if self.activation not in ACTIVATIONS:
            raise unknown("activation", self.activation, ACTIVATIONS)
        for name in ("feature_scale", "residual_weight"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise OptionError(f"`{name}` must be positive and finite, but got {value}.")
        if self.residual is not None and (
            self.residual not in self.features or FEATURES[self.residual].is_per_dimension
        ):
            raise OptionError(
                f"`residual` must be one of the features, and not `x`, but got `{self.residual}`. "
                "Add it to `features`, or choose another or none as `residual`."
            )
        if not self.hidden or min(self.hidden) < 1:
            raise OptionError(
                f"`hidden` must be layer widths of at least 1, but got {self.hidden}."
            )

    @property
    def is_for_any_dimension(self) -> bool:
        """Whether points of every dimension can be scored."""
        return not any(FEATURES[name].is_per_dimension for name in self.features)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of a `NeuralAF`'s tensors by name, without building one."""
        inputs = width(self.features, self.dim)
        shapes: dict[str, tuple[int, ...]] = {"shift": (inputs,), "scale": (inputs,)}
        for number, outputs in enumerate((*self.hidden, 1)):
            # Every other module of the network is an activation.
            shapes[f"network.{2 * number}.weight"] = (outputs, inputs)
            shapes[f"network.{2 * number}.bias"] = (outputs,)
            inputs = outputs
        return shapes


class NeuralAF(nn.Module):
    """alpha(x) = MLP[mu(x), sigma(x), x, t, T] (the paper's equation 4), or of other features.

    With a residual, w times one of the features is added to that.
    """

    shift: Tensor
    scale: Tensor
    products: torch.dtype | None = None
    """Precision of matrix products, if it is not that of the weights: bf16 in training."""

    def __init__(
        self, architecture: Architecture, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.architecture = architecture
        n_columns = width(architecture.features, architecture.dim)
        shift, scale = normalization(architecture.features, architecture.dim)
        if not architecture.normalize:
            shift, scale = torch.zeros_like(shift), torch.ones_like(scale)
        self.register_buffer("shift", shift)
        self.register_buffer("scale", scale * architecture.feature_scale)
        self.added = _column(architecture)
        self.network = mlp(n_columns, architecture.hidden, architecture.activation)
        initialize(self.network, architecture.init, generator)

    def features(self, belief: Belief) -> Float[Tensor, "E N F"]:
        """What the network sees of each point, in the network's precision."""
        self._require_dim(belief)
        return self._normalized(columns(belief, self.architecture.features))

    def score(self, features: Float[Tensor, "*n F"]) -> Float[Tensor, "*n"]:
        """The AF's values, from features."""
        rows = features.flatten(0, -2)
        # Gradients need all layers at once anyway.
        size = len(rows)
        if not torch.is_grad_enabled():
            size = _SCORED[rows.device.type] // max(self.architecture.hidden)
        dtype = self.products or rows.dtype
        parts = [scores(self.network, part, dtype) for part in rows.split(max(1, size))]
        score = torch.cat(parts).unflatten(0, features.shape[:-1])
        if self.added is None:
            return score
        weight = self.architecture.residual_weight / self.scale[self.added]
        return score + features[..., self.added] * weight.to(score)

    def rows_at_once(self, device: torch.device, points: int) -> int:
        """How many rows of so many points to learn from in one go."""
        return max(1, _LEARNED[device.type] // max(self.architecture.hidden) // points)

    def forward(self, belief: Belief) -> Float[Tensor, "E N"]:
        """Score every point, in float64 for whoever compares."""
        return self.score(self.features(belief)).to(belief.mean.dtype)

    @torch.no_grad()
    def slopes(self, belief: Belief) -> Slopes:
        """The scores and their derivatives in the belief, written out."""
        self._require_dim(belief)
        raw, pull = columns_and_pull(belief, self.architecture.features)
        score, gradient = score_and_gradient(self.network, self._normalized(raw))
        score, gradient = score.to(raw.dtype), gradient * self.scale
        if self.added is not None:
            weight = self.architecture.residual_weight
            score = score + weight * (raw[..., self.added] - self.shift[self.added])
            gradient[..., self.added] += weight
        return Slopes(score, *pull(gradient))

    def _normalized(self, raw: Tensor) -> Tensor:
        # Not `next(self.parameters())`, which walks the modules for longer than a layer takes.
        return ((raw - self.shift) * self.scale).to(cast(nn.Linear, self.network[0]).weight.dtype)

    def _require_dim(self, belief: Belief) -> None:
        dim, given = self.architecture.dim, belief.x.shape[-1]
        if dim != given and not self.architecture.is_for_any_dimension:
            raise ShapeError(
                f"This acquisition function was trained for points of {dim} dimensions, "
                f"but the points have {given}."
            )


def _column(architecture: Architecture) -> int | None:
    """The number of the column that is added to the output."""
    names, added = architecture.features, architecture.residual
    if added is None:
        return None
    return width(names[: names.index(added)], architecture.dim)
