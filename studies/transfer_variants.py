"""Choices within the transfer baselines, compared on validation tasks, never on test tasks.

Prints one JSON line per family and method: median regret at t = 1, 3, 5, 10, 20, 30 and summed
over all 30 steps, the criterion by which defaults were chosen.

    python studies/transfer_variants.py [--smoke]
"""

import argparse
import json

import metabo
from metabo.version import commit

METHODS = (
    "taf-me",
    "taf-r:rho=1:ranks=mean",
    "taf-r:rho=1",
    "taf-r:rho=0.1",
    "taf-r:rho=0.05",
    "taf-r:rho=0.02",
    "taf-r:rho=0.02:ranks=mean",
    "taf-r:rho=0.01",
    "gmm-ucb:preset=paper",
    "gmm-ucb:preset=paper:designs=data",
    "gmm-ucb:preset=paper:density=plain",
    "eps-greedy:preset=paper",
    "eps-greedy:preset=paper:designs=data",
)
STEPS = (1, 3, 5, 10, 20, 30)


def main() -> None:
    """Compare on three families."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="two tasks, three steps, on Branin")
    options = parser.parse_args()
    tasks, budget = (2, 3) if options.smoke else (64, 30)
    families = ("branin",) if options.smoke else ("branin", "goldstein-price", "hartmann-3")
    for family in families:
        for method in METHODS:
            run = metabo.evaluate(
                family, methods=[method], tasks=tasks, budget=budget, stream="validation tasks"
            )
            medians = run.methods[method].regret.quantile(0.5, 0)
            steps = [t for t in STEPS if t <= budget]
            line = {
                "name": "transfer_variants",
                "family": family,
                "method": method,
                "t": steps,
                "median": [f"{medians[t - 1]:.2g}" for t in steps],
                "sum": round(medians.sum().item(), 3),
                "commit": commit(),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
