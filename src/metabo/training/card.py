"""The card of a trained artifact: its setting, training and validation."""

from collections.abc import Mapping

import torch

from metabo.acquisition import EI, NeuralAF, OnLearned
from metabo.domain import Domain, Finite
from metabo.gp import Prior
from metabo.loop import rollout
from metabo.metrics import quantiles
from metabo.policies import (
    MAX_LISTED,
    Informed,
    Maximize,
    Policy,
    classical,
    informed,
    learned,
    searcher,
)
from metabo.space.schema import to_json
from metabo.tasks import Provenance, TaskFamily
from metabo.training.checkpoint import Progress
from metabo.training.config import TrainConfig
from metabo.training.rollouts import validation_tasks
from metabo.version import __version__, commit


def training_card(
    af: NeuralAF,
    prior: Prior,
    setting: TaskFamily,
    config: TrainConfig,
    progress: Progress,
    score: Mapping[str, float] | None = None,
) -> dict[str, object]:
    """Return the card: setting, training, and validation regret compared with EI and random.

    Args:
        af: Trained AF.
        prior: Prior that it was trained with.
        setting: Family that it was trained on.
        config: Settings of the training.
        progress: State at the end of the training.
        score: Mean rewards on validation tasks that decided whether the network is used.
    """
    budget = config.budget or setting.budget
    search = searcher("gradient", setting.domain, repeats=setting.noise > 0)
    policies: dict[str, Policy] = {
        "metabo": informed(learned(af, setting.domain, search), prior.learned),
        **{name: classical(name, setting.domain, search) for name in ("ei", "random")},
    }
    if prior.learned is not None:
        on_prior = Maximize(OnLearned(EI()), search)
        policies["ei:prior=learned"] = Informed(on_prior, prior.learned)
    return {
        "family": config.family,
        "sources": config.sources,
        "domain": _domain(setting.domain),
        "space": to_json(setting.space),
        "prior": prior.record(),
        "budget": [config.least_budget or budget, budget],
        "training": {
            "config": config.record(),
            "iterations": progress.iteration,
            "best_iteration": progress.best_iteration,
            "best_score": progress.best_score,
            "seconds": round(progress.seconds, 1),
            "device": _device_name(config.device),
            "torch": torch.__version__,
            "metabo": __version__,
        },
        "validation": {
            "tasks": len(validation_tasks(setting, config).optimum),
            "learned_from": setting.validation() is None,
            "search": "gradient",
            "score": dict(score or {}),
            "median_regret": {
                name: _median(policy, setting, config, budget) for name, policy in policies.items()
            },
        },
        **_measured(setting.provenance),
        "commit": commit(),
    }


def _median(policy: Policy, setting: TaskFamily, config: TrainConfig, budget: int) -> list[float]:
    tasks = validation_tasks(setting, config)
    regret = rollout(policy, tasks, setting, seed=config.seed, budget=budget).regret
    return [float(f"{v:.3g}") for v in quantiles(regret, [0.5])[0].tolist()]


def _measured(known: Provenance | None) -> dict[str, object]:
    """Return the fields about measured data; none if the tasks were not measured."""
    if known is None:
        return {}
    rows = known.configurations
    return {
        "data": known.sources.record(),
        "direction": known.direction,
        # With more configurations the file would be large, and an AF searches the whole space.
        **({"configurations": [list(row) for row in rows]} if len(rows) <= MAX_LISTED else {}),
    }


def _domain(domain: Domain) -> dict[str, object]:
    if isinstance(domain, Finite):
        return {"kind": "finite", "dim": domain.dim, "points": len(domain.points)}
    return {"kind": "box", "dim": domain.dim}


def _device_name(device: str) -> str:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else "CPU"
