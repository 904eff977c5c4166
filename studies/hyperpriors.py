"""Densities of GP hyperparameters compared: log EI with hyperparameters fitted during the run.

Prints one JSON line per family and density, with median regret and the mean over tasks and steps
of log10 regret, and one with the mean of that over all families.

    python studies/hyperpriors.py [--smoke] [--tasks 40] [--families branin,hartmann-6]
"""

import argparse
import json
from dataclasses import replace

import metabo
from metabo.acquisition import LogEI
from metabo.gp import HyperPrior, LogNormal
from metabo.loop import rollout
from metabo.policies import Refitted, from_midpoint, searcher
from metabo.seeding import generator
from metabo.version import commit

FAMILIES = (
    "branin,six-hump-camel,rosenbrock-3,levy-4,ackley-4,hartmann-6,gp-matern52:dim=3,gp-rbf:dim=4"
)


def densities(dim: int) -> dict[str, HyperPrior | None]:
    """Return the densities to compare in `dim` dimensions, by name."""
    usual = HyperPrior.usual(dim)
    return {
        "usual": usual,
        "narrow signal": replace(usual, signal=LogNormal(1.0, 1.0)),
        "BoTorch's noise": replace(usual, noise=LogNormal(-4.0, 1.0)),
        "none": None,
    }


def main() -> None:
    """Run all densities on all families."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default=FAMILIES)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--budget", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smoke", action="store_true", help="two tasks, five evaluations")
    given = parser.parse_args()
    if given.smoke:
        given.families, given.tasks, given.budget = "branin", 2, 5
    totals: dict[str, list[float]] = {}
    for name in given.families.split(","):
        family = metabo.family(name)
        tasks = family.sample(given.tasks, generator(given.seed, "validation tasks"))
        choose = from_midpoint(LogEI(), family.domain, searcher("gradient", family.domain))
        for label, density in densities(family.domain.dim).items():
            policy = Refitted(choose, hyperprior=density)
            regret = rollout(policy, tasks, family, seed=given.seed, budget=given.budget).regret
            mean = regret.clamp_min(1e-9).log10().mean().item()
            totals.setdefault(label, []).append(mean)
            median = float(f"{regret[:, -1].quantile(0.5).item():.3g}")
            _print({"family": name, "density": label, "log10": round(mean, 3), "median": median})
    _print({"log10": {label: round(sum(v) / len(v), 3) for label, v in totals.items()}})


def _print(line: dict[str, object]) -> None:
    print(json.dumps({"name": "hyperpriors", **line, "commit": commit()}), flush=True)


if __name__ == "__main__":
    main()
