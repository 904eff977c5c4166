"""Presets: named collections of training settings."""

from dataclasses import fields, replace

from metabo.errors import unknown
from metabo.training.config import TrainConfig

DEFAULT_FEATURES = (
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
    # The residual ranks points that training never chooses, so that a grid search climbs.
    "residual": "mean",
    "residual_weight": 20.0,
    "candidates": ("fine", "coarse", "fine", "coarse", "grid"),
    "critic": "regret",
    "episodes": 100,
    "iterations": 500,
    "minibatches": 10,
    "learning_rate": 5e-4,
    "final_learning_rate": 1e-5,
    "max_gradient_norm": 0.5,
    "entropy_coefficient": 0.001,
    "reward_floor": 1e-6,
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
        "episodes": 40,
        "iterations": 100,
        "validate_every": 10,
        "minibatches": 6,
        "learning_rate": 1e-3,
        "reward": "linear",
        "entropy_coefficient": 0.0,
        "feature_scale": 2.0,
        "residual": "log_ei",
        "residual_weight": 2.0,
        "group": 4,
        "members": 4,
    },
    # Tasks of which only the smoothness is known, in any number of dimensions. Most of an
    # advantage depends on how smooth the task is; the critic and the group remove this part.
    "general": _DEFAULT
    | {
        "features": GENERAL_FEATURES,
        "residual": "relative_log_ei",
        "residual_weight": 4.0,
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
        "candidates": ("fine", "coarse"),
        "hidden": (64, 64),
        "episodes": 40,
        "iterations": 400,
        "minibatches": 6,
        "n_global": 200,
    },
}


def preset(name: str, family: str, **changes: object) -> TrainConfig:
    """Return the configuration of a preset for a family, with changes.

    Raises:
        OptionError: If the preset or a setting is unknown, or a value does not fit.
    """
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    known = {field.name for field in fields(TrainConfig)}
    for key in changes:
        if key not in known:
            raise unknown("training option", key, known)
    return replace(TrainConfig(family), **(PRESETS[name] | changes))  # type: ignore[arg-type]
