"""Regret and mean ranks on GP samples and on functions nobody trained on, in any dimension.

Prints one JSON line per family and method, and one with the mean ranks over all families and
tasks. Beside medians there is the mean over tasks of log10 regret (of at least 1e-6) less that of
the first method on the same task, with its standard error: where half of the tasks are solved and
half are not, a median jumps, and this does not. Only torch, numpy and safetensors are needed, so
that it runs where training does.

    python benchmarks/general.py [--smoke] [--families gp-rbf:dim=4,hartmann-6] [--artifact FILE]
        [--methods ei,random] [--hyperparameters fitted] [--tasks 1000] [--budget 30] [--seed 5]
        [--stream validation] [--device cuda]
"""

import argparse
import json

import torch
from torch import Tensor

import metabo
from metabo.loop import rollout
from metabo.policies import Policy, RandomSearch, Refitted, classical, learned, searcher
from metabo.seeding import generator
from metabo.tasks import TaskFamily, Tasks
from metabo.version import commit

STEPS = (10, 20, 30)
LEAST = 1e-6


def main() -> None:
    """Run every method on every family."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default="gp-rbf,gp-matern52")
    parser.add_argument("--methods", default="ei,logei,pi,ucb,random")
    parser.add_argument("--artifact", help="adds the method metabo")
    parser.add_argument("--hyperparameters", choices=("known", "fitted"), default="known")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--budget", type=int, help="the family's own by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stream", choices=("test", "validation"), default="test")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--smoke", action="store_true", help="three tasks, three evaluations")
    given = parser.parse_args()
    if given.smoke:
        given.families, given.methods = "gp-rbf:dim=1,six-hump-camel", "ei,random"
        given.tasks, given.budget = 3, 3
    methods = given.methods.split(",") + ["metabo"] * (given.artifact is not None)
    ranks = []
    for name in given.families.split(","):
        family = metabo.family(name)
        part = family.test() if given.stream == "test" else family.validation() or family
        tasks = part.sample(given.tasks, generator(given.seed, f"{given.stream} tasks"))
        tasks = tasks.to(given.device)
        regret = torch.stack([_regret(m, family, tasks, given) for m in methods])  # M E T
        ranks.append(_ranks(regret))
        # The paper's: against the best value that any method saw.
        seen = regret - regret.amin((0, 2))[None, :, None]
        for method, own, against in zip(methods, regret, seen, strict=True):
            line = {
                "family": name,
                "method": method,
                "median": _medians(own),
                "median_against_best_seen": _medians(against),
                "log10_less_first": _less(own, regret[0]),
                "least": own.min().item(),
            }
            _print(given, line)
    steps = [rank.mean(1) for rank in ranks]  # M T, per family
    last = torch.stack([rank[:, -1] for rank in steps]).mean(0)
    by_family = {
        name: dict(zip(methods, _rounded(rank[:, -1]), strict=True))
        for name, rank in zip(given.families.split(","), steps, strict=True)
    }
    mean = dict(zip(methods, _rounded(last), strict=True))
    _print(given, {"mean_rank": mean, "mean_rank_by_family": by_family})


def _regret(method: str, family: TaskFamily, tasks: Tasks, given: argparse.Namespace) -> Tensor:
    search = searcher("gradient", family.domain)
    policy: Policy
    if method == "metabo":
        policy = learned(metabo.load(given.artifact).to(given.device), family.domain, search)
    else:
        policy = classical(method, family.domain, search)
    if given.hyperparameters == "fitted" and not isinstance(policy, RandomSearch):
        policy = Refitted(policy)
    return rollout(policy, tasks, family, seed=given.seed, budget=given.budget).regret.cpu()


def _ranks(regret: Tensor) -> Tensor:
    """The rank of each method on each task and step, 1 for the least regret; ties share theirs."""
    first, second = regret[:, None], regret[None]
    return (second < first).sum(1) + 0.5 * (second == first).sum(1) + 0.5


def _medians(regret: Tensor) -> dict[str, float]:
    median = regret.quantile(0.5, 0)
    return {str(t): float(f"{median[t - 1].item():.3g}") for t in _steps(regret)}


def _less(regret: Tensor, first: Tensor) -> dict[str, list[float]]:
    """Mean and standard error of the difference in log10 regret, by step and over all steps."""
    difference = regret.clamp_min(LEAST).log10() - first.clamp_min(LEAST).log10()
    columns = {str(t): difference[:, t - 1] for t in _steps(regret)}
    columns["all"] = difference.mean(1)
    root = len(regret) ** 0.5
    return {
        name: [round(d.mean().item(), 3), round(d.std(correction=0).item() / root, 3)]
        for name, d in columns.items()
    }


def _steps(regret: Tensor) -> list[int]:
    budget = regret.shape[1]
    return sorted({*(t for t in STEPS if t < budget), budget})


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 2) for value in values.tolist()]


def _print(given: argparse.Namespace, line: dict[str, object]) -> None:
    head = {
        "name": "general",
        "hyperparameters": given.hyperparameters,
        "tasks": given.tasks,
        "device": given.device,
    }
    print(json.dumps({**head, **line, "commit": commit()}), flush=True)


if __name__ == "__main__":
    main()
