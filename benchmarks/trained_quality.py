"""Trained acquisition functions on the published test functions, beside the published weights.

Prints one JSON line per family: the median regret with the published grid search at some steps and
the published weights' there; the steps at which the learned AF with gradient search is not below
EI with the same search; and the share of steps 16 to 30 that repeat an earlier query (closer than
1e-6). With `--seeds K` also the medians on K other draws of 100 test functions. With `--validation
N` none of that, but the medians with the grid on N validation functions, divided by the published
weights' on the published test functions: for whoever compares recipes, and may not look at those.

    python benchmarks/trained_quality.py [--smoke] [--families branin] [--artifacts FILE]
        [--runs FOLDER] [--seeds 3] [--validation 100]

Artifacts are the shipped ones, those given, one per family, or `FOLDER/FAMILY/af.safetensors`.
"""

import argparse
import json
from pathlib import Path

import torch
from torch import Tensor

import metabo
from metabo.loop import rollout
from metabo.policies import HierarchicalGrid, Maximize
from metabo.seeding import generator
from metabo.version import commit

TASKS = Path(__file__).parents[1] / "examples" / "published-tasks"
STEPS = (3, 5, 8, 10, 15, 20, 25, 30)
PUBLISHED = {
    "branin": (0.186, 0.065, 8.1e-4, 4.8e-5, 2.0e-5, 1.7e-5, 1.7e-5, 1.7e-5),
    "goldstein-price": (1.17, 0.307, 0.066, 0.015, 3.5e-3, 2.1e-3, 1.7e-3, 1.5e-3),
    "hartmann-3": (1.87, 0.080, 4.1e-3, 1.4e-3, 3.9e-4, 3.7e-4, 3.7e-4, 3.7e-4),
}


def median(regret: Tensor) -> Tensor:
    """Over tasks."""
    return regret.quantile(0.5, 0)


def repeats(queries: Tensor) -> float:
    """Share of steps 16 to 30 whose query was made before."""
    distance = torch.cdist(queries, queries, compute_mode="donot_use_mm_for_euclid_dist")
    earlier = torch.ones(distance.shape[1:], dtype=torch.bool).tril(-1)
    return ((distance < 1e-6) & earlier).any(-1)[:, 15:].double().mean().item()


def report(name: str, artifact: str, seeds: int, *, smoke: bool) -> None:
    """Print one line on test functions."""
    line: dict[str, object] = {"name": "trained_quality", "family": name, "artifact": artifact}
    file = None if smoke else TASKS / f"{name}.json"
    tasks = 3 if smoke else 100
    steps = torch.tensor(STEPS) - 1
    published = torch.tensor(PUBLISHED[name], dtype=torch.float64)
    grid = metabo.evaluate(
        name,
        methods=["metabo"],
        search="grid",
        tasks=tasks,
        task_file=file,
        artifact=artifact,
    ).methods["metabo"]
    ours = median(grid.regret)[steps]
    line["t"] = STEPS
    line["grid"] = [f"{v:.2g}" for v in ours.tolist()]
    line["behind_published"] = [t for t, is_ in zip(STEPS, ours > published, strict=True) if is_]
    run = metabo.evaluate(
        name, methods=["metabo", "ei"], tasks=tasks, task_file=file, artifact=artifact
    )
    mine, ei = (run.methods[method] for method in ("metabo", "ei"))
    line["gradient"] = [f"{v:.2g}" for v in median(mine.regret)[steps].tolist()]
    behind = median(mine.regret) >= median(ei.regret)
    line["not_below_ei"] = [t + 1 for t in behind.nonzero()[:, 0].tolist() if t]
    line["repeats"] = {"grid": repeats(grid.queries), "gradient": repeats(mine.queries)}
    for seed in range(1, seeds + 1):
        other = metabo.evaluate(
            name, methods=["metabo"], search="grid", tasks=tasks, seed=seed, artifact=artifact
        ).methods["metabo"]
        ratio = median(other.regret)[steps] / published
        line[f"of_published_seed_{seed}"] = [f"{v:.2g}" for v in ratio.tolist()]
    line["commit"] = commit()
    print(json.dumps(line), flush=True)


def report_validation(name: str, artifact: str, n_tasks: int) -> None:
    """Print one line on validation functions; they are not those that training validates on."""
    family = metabo.family(name)
    tasks = family.sample(n_tasks, generator(4711, "validation tasks"))
    policy = Maximize(metabo.load(artifact), HierarchicalGrid.paper(family.domain.dim))
    regret = rollout(policy, tasks, family, seed=0).regret
    published = torch.tensor(PUBLISHED[name], dtype=torch.float64)
    ratio = median(regret)[torch.tensor(STEPS) - 1] / published
    line: dict[str, object] = {"name": "trained_quality", "family": name, "artifact": artifact}
    line |= {"validation_tasks": n_tasks, "t": STEPS, "commit": commit()}
    line["of_published"] = [f"{v:.2g}" for v in ratio.tolist()]
    print(json.dumps(line), flush=True)


def main() -> None:
    """Report on the families asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default=",".join(PUBLISHED))
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--artifacts", help="names or files, one per family")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument(
        "--validation", type=int, help="number of validation functions to report on instead"
    )
    parser.add_argument("--smoke", action="store_true", help="three drawn tasks of two families")
    given = parser.parse_args()
    if given.validation is not None and given.validation < 1:
        parser.error("--validation must be at least 1.")
    families = given.families.split(",")[: 2 if given.smoke else None]
    chosen = given.artifacts.split(",") if given.artifacts else families
    for name, artifact in zip(families, chosen, strict=True):
        path = str(given.runs / name / "af.safetensors") if given.runs else artifact
        if given.validation is not None:
            report_validation(name, path, 3 if given.smoke else given.validation)
        else:
            report(name, path, given.seeds, smoke=given.smoke)


if __name__ == "__main__":
    main()
