"""metabo as the sampler of an Optuna study, with any search space or with a learned AF's own.

python examples/optuna_study.py
"""

import optuna
import torch

import metabo
from metabo.integrations.optuna import MetaBOSampler


def mixed(trial: optuna.Trial) -> float:
    """Stands for an experiment of yours; smaller is better."""
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    depth = trial.suggest_int("depth", 1, 8)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    return (rate - 0.01) ** 2 + (depth - 3) ** 2 + (kind == "b")


def branin(trial: optuna.Trial) -> float:
    """A task of the family that the artifact was trained for; larger is better."""
    x = [trial.suggest_float(name, 0, 1) for name in ("x1", "x2")]
    task = metabo.family("branin").read([{"translation": [-0.03, 0.02], "scale": 1.0}])
    return task(torch.tensor([[x]], dtype=torch.float64)).item()


def main() -> None:
    """Fifteen trials of each."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=MetaBOSampler(seed=0))
    study.optimize(mixed, n_trials=15)
    print(f"best in any space: {study.best_value:.6f} at {study.best_params}")
    study = optuna.create_study(
        sampler=MetaBOSampler("branin", budget=15, seed=0), direction="maximize"
    )
    study.optimize(branin, n_trials=15)
    print(f"best of a learned AF: {study.best_value:.6f} at {study.best_params}")


if __name__ == "__main__":
    main()
