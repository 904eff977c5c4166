"""EI with the grid search on the published test functions, seed by seed, beside its curves.

Only ties depend on the seed. Prints one JSON line per family and seed: our median regret at
t = 5, 10, 20, 30 and whether it agrees (t = 10, 30: inside the published 30-70 % band; t = 5, 20:
within a factor of 1.5 of the published median); then one line for all seeds pooled.

    python studies/published_curves.py [--seeds 10] [--smoke]
"""

import argparse
import json
from pathlib import Path

import torch
from torch import Tensor

import metabo
from metabo.version import commit

TASKS = Path(__file__).parents[1] / "examples" / "published-tasks"
STEPS = (5, 10, 20, 30)
# What is allowed at each of these steps.
BANDS = {
    "branin": ((0.198 / 1.5, 0.198 * 1.5), (0.029, 0.086), (3.67e-4, 8.25e-4), (4.8e-6, 2.0e-5)),
    "goldstein-price": ((1.24 / 1.5, 1.24 * 1.5), (0.92, 1.03), (0.165, 0.3705), (0.036, 0.39)),
    "hartmann-3": ((3.30 / 1.5, 3.30 * 1.5), (0.40, 0.93), (0.010, 0.0225), (1.7e-3, 6.9e-3)),
}


def report(name: str, seed: int | str, regret: Tensor) -> None:
    """Print one line."""
    medians = [regret.quantile(0.5, 0)[t - 1].item() for t in STEPS]
    agrees = [low <= m <= high for m, (low, high) in zip(medians, BANDS[name], strict=True)]
    line = {
        "name": "published_curves",
        "family": name,
        "seed": seed,
        "t": STEPS,
        "median": [f"{m:.3g}" for m in medians],
        "agrees": agrees,
        "commit": commit(),
    }
    print(json.dumps(line), flush=True)


def main() -> None:
    """Compare on three families."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--smoke", action="store_true", help="one seed, two drawn functions of one family"
    )
    options = parser.parse_args()
    for name in list(BANDS)[: 1 if options.smoke else None]:
        regrets = []
        for seed in range(1 if options.smoke else options.seeds):
            run = metabo.evaluate(
                name,
                methods=["ei"],
                search="grid",
                tasks=2,
                task_file=None if options.smoke else TASKS / f"{name}.json",
                seed=seed,
            )
            regrets.append(run.methods["ei"].regret)
            report(name, seed, regrets[-1])
        report(name, "pooled", torch.cat(regrets))


if __name__ == "__main__":
    main()
