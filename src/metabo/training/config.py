"""The settings of a training run."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Literal

from metabo.acquisition import Architecture
from metabo.errors import OptionError, unknown
from metabo.options import convert, parse
from metabo.rules import MAX_COUNT, Rule, number, whole

PAPER_FEATURES = ("mean", "std", "x", "step", "budget")
CLOUDS = {"fine": 3.0, "medium": 2.0, "coarse": 1.0}
"""How many decades below 0.2 the clouds reach: as those of the gradient search do, and about as
the paper's local grids do in two and in three dimensions."""

_COUNT, _SHARE, _POSITIVE, _NOT_NEGATIVE = (
    whole(1, MAX_COUNT),
    number(0, 1),
    number(above=0),
    number(low=0),
)
_RULES: dict[str, Rule] = {
    **dict.fromkeys(("sources", "n_global", "iterations", "stop_at", "episodes"), _COUNT),
    **dict.fromkeys(("group", "budget", "epochs", "least_budget", "budget_step"), _COUNT),
    **dict.fromkeys(("members", "minibatches", "validate_every", "validation_tasks"), _COUNT),
    **dict.fromkeys(("checkpoint_every", "patience"), _COUNT),
    **dict.fromkeys(("gamma", "gae_lambda"), _SHARE),
    **dict.fromkeys(("learning_rate", "clip", "max_gradient_norm", "reward_floor"), _POSITIVE),
    **dict.fromkeys(("feature_scale", "residual_weight"), _POSITIVE),
    **dict.fromkeys(("final_learning_rate", "value_coefficient"), _NOT_NEGATIVE),
    **dict.fromkeys(("entropy_coefficient", "final_entropy_coefficient"), _NOT_NEGATIVE),
}
"""What a setting must be, where its type alone does not say."""


@dataclass(frozen=True)
class TrainConfig:
    """All that a training run depends on besides the package; the defaults are the paper's."""

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
    """Factor that features are multiplied by, as in `Architecture`."""
    residual: str | None = None
    """Feature that is added to the network's score, as in `Architecture`; none if None."""
    residual_weight: float = 1.0
    """Factor of the residual feature, as in `Architecture`."""

    candidates: tuple[str, ...] = ("grid",)
    """Candidate sets that iterations take in turn: `grid`, the paper's adaptive set (lattice and k
    local maxima), or `Scatter` with `fine`, `medium` or `coarse` clouds."""
    n_global: int | None = None
    """Points of the global grid; by default the paper's, or 150 D (600 if D = 1)."""

    iterations: int = 2000
    """Iterations that schedules are spread over, and of the run unless it stops earlier."""
    stop_at: int | None = None
    """Iteration of the schedule to stop after, such as cross-validation finds."""
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
    """Least budget: where it is given, each batch draws its budget from here up to `budget`."""
    budget_step: int = 1
    """Distance between the budgets drawn: on a GPU each of them is recorded as a graph."""
    reward: Literal["log", "linear"] = "log"
    """Reward of a step with regret R: -log10 R (`log`) or -R (`linear`)."""
    reward_floor: float = 1e-20
    """Least regret that the logarithmic reward distinguishes."""

    gamma: float = 0.98
    gae_lambda: float = 0.98
    clip: float = 0.15
    epochs: int = 4
    minibatches: int = 20
    learning_rate: float = 1e-4
    final_learning_rate: float = 1e-4
    """Learning rate at the end of the run, reached by a cosine."""
    value_coefficient: float = 1.0
    entropy_coefficient: float = 0.01
    final_entropy_coefficient: float | None = None
    """Entropy coefficient at the end of the run, reached by a cosine, so that a policy explores
    first and decides later; constant if None."""
    max_gradient_norm: float | None = None
    """Largest norm of the AF's gradient and of the critic's, each clipped by itself."""
    precision: Literal["fp32", "tf32", "bf16"] = "fp32"
    """Precision of the networks' matrix products in training; the GP is always float64."""

    validate_every: int = 20
    validation_tasks: int = 64
    checkpoint_every: int = 20
    patience: int | None = None
    """Number of validations without a better score after which to stop; never if None."""

    def __post_init__(self) -> None:
        """Check types and ranges, and what no other part checks."""
        for field in fields(self):
            value = getattr(self, field.name)
            converted = convert(value, field.type, f"Setting `{field.name}`")
            object.__setattr__(self, field.name, converted)
        for name, rule in _RULES.items():
            value = getattr(self, name)
            if value is not None:
                rule.require(name, value)
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
