"""Presets: named collections of training settings."""

import math
from dataclasses import fields, replace

from metabo.errors import unknown
from metabo.training.config import TrainConfig

PLAIN_FEATURES = (
    "mean",
    "std",
    "x",
    "progress",
    "incumbent",
    "improvement",
    "log_std",
    "log_ei",
    "novelty",
)
"""Features of the plain view of a belief."""

LEARNED_FEATURES = (
    "learned_mean",
    "learned_improvement",
    "learned_log_std",
    "learned_log_ei",
    "guard",
)
"""Features of the learned view of a belief."""

DEFAULT_FEATURES = PLAIN_FEATURES + LEARNED_FEATURES

GENERAL_FEATURES = (
    "relative_mean",
    "relative_std",
    "relative_incumbent",
    "improvement",
    "relative_log_std",
    "relative_log_ei",
    "progress",
    "remaining",
)
"""Features that depend neither on the number of dimensions nor on the scale of the values."""

_DEFAULT = {
    "features": DEFAULT_FEATURES,
    "hidden": (128, 128, 128),
    "normalize": True,
    "init": "orthogonal",
    "prior": "learned",
    # Training starts from EI on the learned prior, and improves what it does first.
    "residual": "learned_log_ei",
    "residual_weight": 4.0,
    "candidates": ("fine",),
    "horizon": 8,
    "group": 10,
    "critic": "regret",
    "episodes": 200,
    "iterations": 200,
    "minibatches": 8,
    "learning_rate": 5e-4,
    "final_learning_rate": 1e-5,
    "max_gradient_norm": 0.5,
    "entropy_coefficient": 0.001,
    "reward_floor": None,
    "precision": "tf32",
}

PRESETS: dict[str, dict[str, object]] = {
    "paper": {},
    "default": _DEFAULT,
    # Few tasks with few points: a small network; reward -R, since mean accuracies are compared.
    "table": _DEFAULT
    | {
        "features": tuple(name for name in DEFAULT_FEATURES if name != "novelty"),
        "hidden": (32, 32),
        "horizon": None,
        "residual_weight": 2.0,
        "episodes": 40,
        "iterations": 100,
        "validate_every": 10,
        "minibatches": 6,
        "learning_rate": 1e-3,
        "reward": "linear",
        "entropy_coefficient": 0.0,
        "feature_scale": 2.0,
        "group": 4,
        "members": 4,
    },
    # Tasks of which only the smoothness is known, in any number of dimensions. Most of an
    # advantage depends on how smooth the task is; the critic and the group remove this part.
    "general": _DEFAULT
    | {
        "features": GENERAL_FEATURES,
        "prior": "plain",
        "residual": "relative_log_ei",
        "residual_weight": 4.0,
        "horizon": None,
        "minibatches": 10,
        "group": 4,
        "episodes": 200,
        "iterations": 250,
        "least_budget": 20,
        "budget_step": 20,
        "reward_floor": 1e-5,
        "candidates": ("fine", "medium"),
        "validation_tasks": 128,
    },
    "fast": _DEFAULT
    | {
        "hidden": (64, 64),
        "episodes": 100,
        "iterations": 200,
        "n_global": 200,
    },
}


def preset(name: str, family: str, **changes: object) -> TrainConfig:
    """Return the configuration of a preset for a family, with changes.

    If `episodes` changes and `group` does not, groups are made smaller so that they fit.

    Raises:
        OptionError: If the preset or a setting is unknown, or a value does not fit.
    """
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    known = {field.name for field in fields(TrainConfig)}
    for key in changes:
        if key not in known:
            raise unknown("training option", key, known)
    settings = PRESETS[name] | changes
    episodes, group = settings.get("episodes"), settings.get("group")
    if "group" not in changes and isinstance(episodes, int) and isinstance(group, int):
        settings["group"] = math.gcd(episodes, group)
    return replace(TrainConfig(family), **settings)  # type: ignore[arg-type]
