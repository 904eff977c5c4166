"""What a trained artifact says about itself."""

import torch

from metabo.acquisition import EI, NeuralAF
from metabo.loop import rollout
from metabo.metrics import quantiles
from metabo.policies import Maximize, Policy, RandomSearch, StartAt, searcher
from metabo.schema import to_json
from metabo.seeding import generator
from metabo.tasks import TaskFamily, family, space_of
from metabo.training.checkpoint import Progress
from metabo.training.config import TrainConfig
from metabo.version import __version__, commit


def training_card(af: NeuralAF, config: TrainConfig, progress: Progress) -> dict[str, object]:
    """The card: setting, training, and regret on the validation tasks beside EI and random."""
    setting = family(config.family)
    budget = config.budget or setting.budget
    search = searcher("gradient", setting.domain)
    policies: dict[str, Policy] = {
        "metabo": Maximize(af, search),
        "ei": StartAt(0.5, Maximize(EI(), search), setting.domain),
        "random": RandomSearch(setting.domain),
    }
    return {
        "family": config.family,
        "sources": config.sources,
        "domain": {"kind": "box", "dim": setting.domain.dim},
        "space": to_json(space_of(setting)),
        "prior": setting.prior.record(),
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
            "tasks": config.validation_tasks,
            "search": "gradient",
            "median_regret": {
                name: _median(policy, setting, config, budget) for name, policy in policies.items()
            },
        },
        "commit": commit(),
    }


def _median(policy: Policy, setting: TaskFamily, config: TrainConfig, budget: int) -> list[float]:
    tasks = setting.sample(config.validation_tasks, generator(config.seed, "validation tasks"))
    regret = rollout(policy, tasks, setting, seed=config.seed, budget=budget).regret
    return [float(f"{v:.3g}") for v in quantiles(regret, [0.5])[0].tolist()]


def _device_name(device: str) -> str:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else "CPU"
