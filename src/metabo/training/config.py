"""The settings of a training run."""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from typing import Literal

from metabo.acquisition import Architecture
from metabo.errors import OptionError, unknown
from metabo.options import convert, parse

PAPER_FEATURES = ("mean", "std", "x", "step", "budget")
CLOUDS = {"fine": 3.0, "medium": 2.0, "coarse": 1.0}
"""How many decades below 0.2 the clouds reach: as those of the gradient search do, and about as
the paper's local grids do in two and in three dimensions."""

_MOST = 1_000_000
"""Largest count of anything: more is a slip, and would take all memory."""
_COUNTS = ("sources", "n_global", "iterations", "stop_at", "episodes", "group", "budget", "epochs")
_RULES: tuple[tuple[tuple[str, ...], Callable[[float], bool], str], ...] = (
    (
        (
            *_COUNTS,
            "least_budget",
            "budget_step",
            "members",
            "minibatches",
            "validate_every",
            "validation_tasks",
            "checkpoint_every",
            "patience",
        ),
        lambda v: 1 <= v <= _MOST,
        f"lie in 1..{_MOST:,}",
    ),
    (("gamma", "gae_lambda"), lambda v: 0 <= v <= 1, "lie in 0..1"),
    (
        (
            "learning_rate",
            "clip",
            "max_gradient_norm",
            "reward_floor",
            "feature_scale",
            "residual_weight",
        ),
        lambda v: v > 0,
        "be positive and finite",
    ),
    (
        (
            "final_learning_rate",
            "value_coefficient",
            "entropy_coefficient",
            "final_entropy_coefficient",
        ),
        lambda v: v >= 0,
        "be finite and not negative",
    ),
)


@dataclass(frozen=True)
class TrainConfig:
    """All that a training run depends on beside the package; the defaults are the paper's."""

    family: str
    seed: int = 0
    device: str = "cpu"
    sources: int | None = None
    """M fixed source tasks, or None for a fresh task in every episode."""

    features: tuple[str, ...] = PAPER_FEATURES
    hidden: tuple[int, ...] = (200, 200, 200, 200)
    activation: str = "relu"
    normalize: bool = False
    init: Literal["paper", "orthogonal"] = "paper"
    feature_scale: float = 1.0
    """As in `Architecture`."""
    residual: str | None = None
    """Likewise."""
    residual_weight: float = 1.0
    """Likewise."""

    candidates: tuple[str, ...] = ("grid",)
    """Candidate sets that iterations take in turn: `grid`, the paper's adaptive set (lattice and k
    local maxima), or `Scatter` with `fine`, `medium` or `coarse` clouds."""
    n_global: int | None = None
    """Points of the global grid; by default the paper's, or 150 D (600 if D = 1)."""

    iterations: int = 2000
    """Of what follows a schedule, and of the run unless it stops before."""
    stop_at: int | None = None
    """Stop after so many iterations of the schedule, as found by cross-validation."""
    episodes: int = 40
    """Episodes in an iteration; the paper's batch of 1,200 steps is 40 of 30."""
    members: int = 1
    """Networks that learn independently, one after the other; their mean score is the AF."""
    critic: Literal["step", "regret"] = "step"
    """What the value network sees: the step and the budget, or the regret so far too."""
    group: int = 1
    """Episodes on each task drawn: their mean advantage is subtracted, so that a choice is judged
    against others on the same task and not by how hard the task is."""
    budget: int | None = None
    """Evaluations in an episode; the family's own if None."""
    least_budget: int | None = None
    """With it given, each batch draws its budget from here up to `budget`."""
    budget_step: int = 1
    """The budgets drawn are this far apart: on a GPU every one of them is recorded."""
    reward: Literal["log", "linear"] = "log"
    """-log10 R or -R."""
    reward_floor: float = 1e-20
    """Least regret in the logarithm."""

    gamma: float = 0.98
    gae_lambda: float = 0.98
    clip: float = 0.15
    epochs: int = 4
    minibatches: int = 20
    learning_rate: float = 1e-4
    final_learning_rate: float = 1e-4
    """Reached by a cosine over the run."""
    value_coefficient: float = 1.0
    entropy_coefficient: float = 0.01
    final_entropy_coefficient: float | None = None
    """Reached by the same cosine, so that a policy explores first and decides later; constant if
    None."""
    max_gradient_norm: float | None = None
    """Of the AF's gradient and of the critic's, each on its own."""
    precision: Literal["fp32", "tf32", "bf16"] = "fp32"
    """Of the networks' matrix products in training; the GP is float64 always."""

    validate_every: int = 20
    validation_tasks: int = 64
    checkpoint_every: int = 20
    patience: int | None = None
    """Stop after so many validations without a better score."""

    def __post_init__(self) -> None:
        """Check types and ranges, and what no other part checks."""
        for field in fields(self):
            value = getattr(self, field.name)
            converted = convert(value, field.type, f"Setting `{field.name}`")
            object.__setattr__(self, field.name, converted)
        for names, is_allowed, rule in _RULES:
            for name in names:
                value = getattr(self, name)
                if value is not None and not (math.isfinite(value) and is_allowed(value)):
                    raise OptionError(f"Setting `{name}` must {rule}, but got {value}.")
        for name in self.candidates:
            if name not in (*CLOUDS, "grid"):
                raise unknown("candidate set", name, (*CLOUDS, "grid"))
        if self.episodes % self.group:
            raise OptionError(
                f"`episodes` must be a multiple of `group`, {self.group}, but got {self.episodes}."
            )
        if not self.candidates:
            raise OptionError("`candidates` must name at least one candidate set.")
        if "sources" in parse(self.family)[1]:
            raise OptionError(
                f"Give the number of source tasks as `--sources M`, not in `{self.family}`: "
                "validation draws from the whole family."
            )

    def architecture(self, dim: int) -> Architecture:
        """The network for a number of dimensions."""
        return Architecture(
            dim,
            self.features,
            self.hidden,
            self.activation,
            self.normalize,
            self.init,
            self.feature_scale,
            self.residual,
            self.residual_weight,
        )

    @property
    def end(self) -> int:
        """The iteration after which the run is over."""
        return min(self.iterations, self.stop_at or self.iterations)

    def budgets(self, usual: int) -> range:
        """The budgets that batches are drawn from; validation takes the largest."""
        most = self.budget or usual
        least = self.least_budget or most
        if least > most:
            raise OptionError(
                f"`least_budget` must be at most the budget, {most}, but got {least}."
            )
        if self.minibatches > self.episodes * least:
            raise OptionError(
                f"`minibatches` must be at most the steps of a batch, {self.episodes * least}, "
                f"but got {self.minibatches}."
            )
        return range(most, least - 1, -self.budget_step)[::-1]

    def record(self) -> dict[str, object]:
        """As stored beside checkpoints and in the artifact's card."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }

    def first_difference(self, record: dict[str, object]) -> str | None:
        """The first setting in which a stored configuration differs, in words."""
        mine = self.record()
        for field in fields(self):
            # A setting that did not exist then had the value that is the default now.
            before = record.get(field.name, field.default)
            before = list(before) if isinstance(before, tuple) else before
            if before != mine[field.name]:
                return f"`{field.name}` was {before}, now {mine[field.name]}"
        return None


def read_settings(texts: Iterable[str]) -> dict[str, object]:
    """Settings from texts like `budget=10`, as `preset` takes them."""
    types = {field.name: field.type for field in fields(TrainConfig) if field.name != "family"}
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"Settings are written `name=value`, but got `{text}`.")
        if name not in types:
            raise unknown("setting", name, types)
        settings[name] = convert(value, types[name], f"Setting `{name}`")
    return settings
