"""Minimize a function of mixed parameters, 15 trials."""

import optuna

import optunahub


def objective(trial: optuna.Trial) -> float:
    """Stands for an experiment of yours."""
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    depth = trial.suggest_int("depth", 1, 8)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    return (rate - 0.01) ** 2 + (depth - 3) ** 2 + (kind == "b")


if __name__ == "__main__":
    module = optunahub.load_module(package="samplers/metabo")
    study = optuna.create_study(sampler=module.MetaBOSampler(seed=0))
    study.optimize(objective, n_trials=15)
    print(study.best_params, study.best_value)
