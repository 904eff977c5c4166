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
"""Number of decades below 0.2 that the clouds reach: like those of the gradient search (`fine`),
and about like the paper's local grids in two (`medium`) and three (`coarse`) dimensions."""

_COUNT, _SHARE, _POSITIVE, _NOT_NEGATIVE = (
    whole(1, MAX_COUNT),
    number(0, 1),
    number(above=0),
    number(low=0),
)
_RULES: dict[str, Rule] = {
    **dict.fromkeys(("sources", "n_global", "stop_at", "episodes", "horizon"), _COUNT),
    "iterations": whole(0, MAX_COUNT),
    **dict.fromkeys(("group", "budget", "epochs", "least_budget", "budget_step"), _COUNT),
    **dict.fromkeys(("members", "minibatches", "validate_every", "validation_tasks"), _COUNT),
    **dict.fromkeys(("checkpoint_every", "patience"), _COUNT),
    **dict.fromkeys(("gamma", "gae_lambda"), _SHARE),
    **dict.fromkeys(("learning_rate", "clip", "max_gradient_norm", "reward_floor"), _POSITIVE),
    **dict.fromkeys(("feature_scale", "residual_weight"), _POSITIVE),
    **dict.fromkeys(("final_learning_rate", "value_coefficient"), _NOT_NEGATIVE),
    **dict.fromkeys(("entropy_coefficient", "final_entropy_coefficient"), _NOT_NEGATIVE),
}
"""Rules for the settings whose type alone does not determine what is valid."""


@dataclass(frozen=True)
class TrainConfig:
    """Settings of a training run; the defaults are the paper's.

    Together with the version of the package they determine the result.

    Raises:
        OptionError: If a setting is not valid.
    """

    family: str
    """Family of the training tasks, such as `branin`."""
    seed: int = 0
    """Random seed for weights, tasks and choices."""
    device: str = "cpu"
    """Device to train on, such as `cpu` or `cuda`."""
    sources: int | None = None
    """Number of fixed source tasks; a new task is drawn for every episode if None."""

    features: tuple[str, ...] = PAPER_FEATURES
    """Names of the input features of the network."""
    hidden: tuple[int, ...] = (200, 200, 200, 200)
    """Widths of the hidden layers."""
    activation: str = "relu"
    """Activation function of the hidden layers."""
    normalize: bool = False
    """Whether features are first scaled to about [-1, 1], as in `Architecture`."""
    init: Literal["paper", "orthogonal"] = "paper"
    """Initialization of the weights, as in `Architecture`."""
    feature_scale: float = 1.0
    """Factor that features are multiplied by, as in `Architecture`."""
    residual: str | None = None
    """Feature that is added to the network's score, as in `Architecture`; no feature if None."""
    residual_weight: float = 1.0
    """Factor of the residual feature, as in `Architecture`."""

    prior: Literal["plain", "learned"] = "plain"
    """Prior of the GP: the family's own (`plain`), or with a part that is learned from the sources
    before training (`learned`)."""
    candidates: tuple[str, ...] = ("grid",)
    """Candidate sets that the iterations use in turn: `grid` for the paper's adaptive set (lattice
    and k local maxima); `fine`, `medium` or `coarse` for `Scatter` with such clouds."""
    n_global: int | None = None
    """Number of points of the global grid; by default the paper's, or 150 D (600 if D = 1)."""

    iterations: int = 2000
    """Number of iterations that schedules extend over, and of the run unless it stops earlier.

    With 0 the network adds nothing to its residual."""
    stop_at: int | None = None
    """Iteration of the schedule after which to stop, for example as found by cross-validation."""
    episodes: int = 40
    """Number of episodes in an iteration; the paper's batch of 1,200 steps has 40 of 30
    steps."""
    members: int = 1
    """Number of networks trained independently, one after the other; the AF is their mean
    score."""
    critic: Literal["step", "regret"] = "step"
    """Inputs of the value network: step and budget (`step`), or also the regret so far
    (`regret`)."""
    group: int = 1
    """Number of episodes per drawn task. Their mean advantage is subtracted, so that a choice is
    compared with others on the same task, however hard the task is."""
    budget: int | None = None
    """Number of evaluations in an episode; the family's own if None."""
    least_budget: int | None = None
    """Smallest budget; if given, each batch draws its budget between this and `budget`."""
    budget_step: int = 1
    """Difference between neighbouring budgets; on a GPU, each budget is recorded as a graph."""
    horizon: int | None = None
    """Number of evaluations in an episode of the training, if fewer than the budget: with a
    learned prior the first ones decide. Later on the AF is its residual alone, if it has one."""
    reward: Literal["log", "linear"] = "log"
    """Reward of a step with regret R: -log10 R (`log`) or -R (`linear`)."""
    reward_floor: float | None = 1e-20
    """Smallest regret that the logarithmic reward distinguishes; the family's own if None."""

    gamma: float = 0.98
    """Discount factor of rewards."""
    gae_lambda: float = 0.98
    """Parameter lambda of generalized advantage estimation."""
    clip: float = 0.15
    """Clipping range of PPO's probability ratio."""
    epochs: int = 4
    """Number of passes over a batch in an update."""
    minibatches: int = 20
    """Number of minibatches that a batch is divided into."""
    learning_rate: float = 1e-4
    """Learning rate of Adam at the beginning of the run."""
    final_learning_rate: float = 1e-4
    """Learning rate at the end of the run, approached along a cosine."""
    value_coefficient: float = 1.0
    """Weight of the value loss in the loss."""
    entropy_coefficient: float = 0.01
    """Weight of the entropy bonus in the loss, at the beginning of the run."""
    final_entropy_coefficient: float | None = None
    """Entropy coefficient at the end of the run, approached along a cosine, so that a policy
    explores first and decides later; constant if None."""
    max_gradient_norm: float | None = None
    """Largest norm of the AF's and of the critic's gradient, which are clipped separately; no
    clipping if None."""
    precision: Literal["fp32", "tf32", "bf16"] = "fp32"
    """Precision of the networks' matrix products in training; the GP is always float64."""

    validate_every: int = 20
    """Number of iterations between validations."""
    validation_tasks: int = 64
    """Number of validation tasks."""
    checkpoint_every: int = 20
    """Number of iterations between checkpoints."""
    patience: int | None = None
    """Number of validations without improvement after which to stop; never if None."""

    def __post_init__(self) -> None:
        """Check and convert all settings."""
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
        if not self.iterations and (self.prior != "learned" or self.residual is None):
            raise OptionError(
                "Without iterations only a prior is learned, which needs `prior=learned` and a "
                f"`residual`, but they are `{self.prior}` and `{self.residual}`. Use the preset "
                "`default`, or at least one iteration."
            )
        if not self.candidates:
            raise OptionError("`candidates` must name at least one candidate set.")
        if "sources" in parse(self.family)[1]:
            raise OptionError(
                f"Give the number of source tasks as `--sources M`, not in `{self.family}`: "
                "validation draws from the whole family."
            )

    def architecture(self, dim: int) -> Architecture:
        """Return the architecture of the network for a number of dimensions."""
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
            self._network_horizon,
        )

    @property
    def _network_horizon(self) -> int | None:
        """Number of evaluations after which the network is not used; None to use it always."""
        if self.residual is None:
            return None
        return self.horizon if self.iterations else 0

    @property
    def end(self) -> int:
        """Iteration after which the run ends."""
        return min(self.iterations, self.stop_at or self.iterations)

    def budgets(self, usual: int) -> range:
        """Return the budgets that batches are drawn from; validation uses the largest.

        Args:
            usual: Budget of the family, used if `budget` is None.

        Raises:
            OptionError: If `least_budget` or `minibatches` is too large for these budgets.
        """
        most = self.budget or usual
        most = min(most, self.horizon or most)
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
        """Return the settings as plain data, for checkpoints and the artifact's card."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }

    def first_difference(self, record: dict[str, object]) -> str | None:
        """Describe the first setting that differs in a stored configuration; None if none does."""
        mine = self.record()
        for field in fields(self):
            # A setting that did not exist yet had the value that is now the default.
            before = record.get(field.name, field.default)
            before = list(before) if isinstance(before, tuple) else before
            if before != mine[field.name]:
                return f"`{field.name}` was {before}, now {mine[field.name]}"
        return None


def read_settings(texts: Iterable[str]) -> dict[str, object]:
    """Convert texts such as `budget=10` to settings for `preset`.

    Raises:
        OptionError: If a setting is unknown, or a value does not have its type.
    """
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
