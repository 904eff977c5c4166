"""The neural acquisition function: an MLP that scores points one at a time."""

from collections.abc import Callable
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
from metabo.devices import is_capturing
from metabo.errors import OptionError, ShapeError, unknown
from metabo.rules import MAX_COUNT, number, whole
from metabo.shapes import Float
from metabo.state import Belief

_SCORED = {"cpu": 2**18, "cuda": 2**26}
"""Activations of a hidden layer to compute at once when scoring, by device type.

On a CPU they then stay in a core's cache between two layers; on a GPU they keep it busy.
"""
_LEARNED = {"cpu": 2**20, "cuda": 2**24}
"""Activations of a hidden layer to compute at once when training, by device type.

All layers are kept for the gradient, so they leave a core's cache anyway.
"""


@dataclass(frozen=True)
class Architecture:
    """Everything except the weights that is needed to build a `NeuralAF`.

    Raises:
        OptionError: If a name is unknown or a number out of range.

    Examples:
        >>> Architecture(dim=2).is_for_any_dimension
        False
        >>> Architecture(dim=2, features=("mean", "std")).is_for_any_dimension
        True
    """

    dim: int
    """Dimension of the points; without the feature `x` the AF works in any other dimension too."""
    features: tuple[str, ...] = ("mean", "std", "x", "step", "budget")
    """Names of the network's inputs, from `FEATURES`."""
    hidden: tuple[int, ...] = (200, 200, 200, 200)
    """Widths of the hidden layers."""
    activation: str = "relu"
    """Activation function: `relu`, `tanh` or `silu`."""
    normalize: bool = False
    """Whether features are first scaled to about [-1, 1]; in the paper they are not."""
    init: Literal["paper", "orthogonal"] = "paper"
    """Initial weights: N(0, 0.01^2), or orthogonal with gain sqrt 2 (last layer 0.01).

    Biases start at 0.
    """
    feature_scale: float = 1.0
    """Factor on all features: a network that sees larger differences learns fine detail sooner."""
    residual: str | None = None
    """Feature added to the network's output, so that the network learns a correction to it.

    Training starts from the posterior mean with `mean`, and from EI with `relative_log_ei`.
    """
    residual_weight: float = 1.0
    """Weight w of the residual feature.

    Sampling from the softmax of w log EI chooses a point with probability proportional to EI^w.
    """
    horizon: int | None = None
    """Number of evaluations after which the score is the residual alone; None for no such number.

    Training has seen no more, and what a network says about the rest of a run would be a guess.
    """

    def __post_init__(self) -> None:
        """Check the names and sizes."""
        for name in self.features:
            if name not in FEATURES:
                raise unknown("feature", name, FEATURES)
        if not self.features or len(set(self.features)) < len(self.features):
            raise OptionError(
                f"`features` must name at least one feature, each once, but got {self.features}."
            )
        if self.activation not in ACTIVATIONS:
            raise unknown("activation", self.activation, ACTIVATIONS)
        for name in ("feature_scale", "residual_weight"):
            number(above=0).require(name, getattr(self, name))
        if self.residual is not None and (
            self.residual not in self.features or FEATURES[self.residual].is_per_dimension
        ):
            raise OptionError(
                f"`residual` must be one of the features other than `x`, but got "
                f"`{self.residual}`. Add it to `features`, or choose another `residual` or None."
            )
        if self.horizon is not None:
            whole(0, MAX_COUNT).require("horizon", self.horizon)
            if self.residual is None:
                raise OptionError("A `horizon` needs a `residual`, which is the score after it.")
        if not self.hidden or min(self.hidden) < 1:
            raise OptionError(
                f"`hidden` must be layer widths of at least 1, but got {self.hidden}."
            )

    @property
    def is_for_any_dimension(self) -> bool:
        """Whether the AF can score points of any dimension."""
        return not any(FEATURES[name].is_per_dimension for name in self.features)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of a `NeuralAF`'s tensors by name, without building one."""
        inputs = width(self.features, self.dim)
        shapes: dict[str, tuple[int, ...]] = {"shift": (inputs,), "scale": (inputs,)}
        for layer, outputs in enumerate((*self.hidden, 1)):
            # Every other module of the network is an activation.
            shapes[f"network.{2 * layer}.weight"] = (outputs, inputs)
            shapes[f"network.{2 * layer}.bias"] = (outputs,)
            inputs = outputs
        return shapes


class NeuralAF(nn.Module):
    """Neural acquisition function, alpha(x) = MLP[mu(x), sigma(x), x, t, T] (the paper's eq. 4).

    Other features are possible. With a residual, w times one of the features is added.

    Args:
        architecture: Features, layers and initialization of the network.
        generator: Source of the initial weights; torch's default generator if None.

    Examples:
        >>> from metabo.gp import Prior
        >>> from metabo.state import BOState
        >>> af = NeuralAF(Architecture(dim=1, hidden=(8,)))
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> state = BOState.start(prior, episodes=1, budget=10)
        >>> af(state.belief(torch.rand(1, 5, 1).double())).shape
        torch.Size([1, 5])
    """

    shift: Tensor
    """Offset of each input column."""
    scale: Tensor
    """Factor of each input column."""
    products: torch.dtype | None = None
    """Precision of matrix products, such as bfloat16 in training; None for that of the weights."""

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
        """Return the network's inputs for each point, in the network's precision."""
        self._require_dim(belief)
        return self._normalized(columns(belief, self.architecture.features))

    def score(self, features: Float[Tensor, "*n F"]) -> Float[Tensor, "*n"]:
        """Return the scores for given features."""
        rows = features.flatten(0, -2)
        # With gradients all layers are kept anyway, so nothing is gained by splitting.
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
        """Return how many rows of `points` candidates each to process at once in training."""
        return max(1, _LEARNED[device.type] // max(self.architecture.hidden) // points)

    def forward(self, belief: Belief) -> Float[Tensor, "E N"]:
        """Score every point, in the precision of the belief (float64)."""
        if self._is_over(belief):
            self._require_dim(belief)
            return self._residual(belief)[0]
        return self.score(self.features(belief)).to(belief.mean.dtype)

    @torch.no_grad()
    def slopes(self, belief: Belief) -> Slopes:
        """Return the scores and their derivatives in the belief, without autograd."""
        self._require_dim(belief)
        if self._is_over(belief):
            score, pull = self._residual(belief)
            weight = self.architecture.residual_weight
            return Slopes(score, *pull(torch.full_like(score, weight)[..., None]))  # type: ignore[arg-type]
        raw, pull = columns_and_pull(belief, self.architecture.features)
        score, gradient = score_and_gradient(self.network, self._normalized(raw))
        score, gradient = score.to(raw.dtype), gradient * self.scale
        if self.added is not None:
            weight = self.architecture.residual_weight
            score = score + weight * (raw[..., self.added] - self.shift[self.added])
            gradient[..., self.added] += weight
        return Slopes(score, *pull(gradient))  # type: ignore[arg-type]

    def _is_over(self, belief: Belief) -> bool:
        """Tell whether the run is beyond the evaluations that the network was trained for."""
        horizon = self.architecture.horizon
        # A recorded rollout cannot look at the step; training never goes beyond the horizon.
        return (
            horizon is not None and not is_capturing(belief.step) and int(belief.step) >= horizon
        )

    def _residual(self, belief: Belief) -> tuple[Tensor, Callable[..., tuple[Tensor | None, ...]]]:
        """Return the score without the network, and the pull of the feature it consists of."""
        column, pull = columns_and_pull(belief, (cast(str, self.architecture.residual),))
        shift = 0.0 if self.added is None else self.shift[self.added]
        return self.architecture.residual_weight * (column[..., 0] - shift), pull

    def _normalized(self, raw: Tensor) -> Tensor:
        # Not `next(self.parameters())`: walking the modules takes longer than a layer.
        return ((raw - self.shift) * self.scale).to(cast(nn.Linear, self.network[0]).weight.dtype)

    def _require_dim(self, belief: Belief) -> None:
        dim, given = self.architecture.dim, belief.x.shape[-1]
        if dim != given and not self.architecture.is_for_any_dimension:
            raise ShapeError(
                f"This acquisition function was trained for points of {dim} dimensions, "
                f"but the points have {given}. Use one that fits."
            )


def _column(architecture: Architecture) -> int | None:
    """Return the index of the column that is added to the output."""
    names, added = architecture.features, architecture.residual
    if added is None:
        return None
    return width(names[: names.index(added)], architecture.dim)
