"""What each ingredient of the search does: the gradient search with one taken out, and ties.

Prints one JSON line per variant: the share of EI states on which the gradient search finds at
least (1 - 1e-6) times what the published grid finds; then EI's median regret on Hartmann-3 at
t = 20 with ties drawn, and with the lowest index taken.

    python studies/search_ablation.py [--smoke]
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import metabo
from metabo.ascent import Objective, ascend
from metabo.domain import sobol
from metabo.policies import GradientRefine, decide, searcher
from metabo.policies.searchers import candidates, gradient, scatter
from metabo.version import commit

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from search_quality import compare

TASKS = Path(__file__).parents[1] / "examples" / "published-tasks" / "hartmann-3.json"
FAMILIES = ("branin", "goldstein-price", "hartmann-3")


@contextmanager
def patched(module: Any, name: str, value: object) -> Iterator[None]:
    """Replace a module's name for a while."""
    original = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, original)


def inner_grid(n: int, dim: int, device: torch.device) -> Tensor:
    """The global grid without the stretch onto the faces."""
    return sobol(n, dim, device)


def no_neighbours(n: int, dim: int, device: torch.device) -> candidates.Near:
    """A grid whose points are near to none but themselves: the best may crowd together."""
    alone = torch.eye(n, dtype=torch.bool, device=device)
    return lambda index: alone[index]


def ascend_in_one_unit(objective: Objective, x: Tensor, **options: Any) -> Any:
    """The ascent with the same unit in every coordinate."""
    unit = torch.full_like(options.pop("unit"), 0.3)
    return ascend(objective, x, unit=unit, **options)


VARIANTS: list[tuple[str, tuple[Any, ...], str, object]] = [
    ("without the stretch onto the faces", (scatter,), "stretched_sobol", inner_grid),
    ("without passing over neighbours", (gradient,), "grid_neighbours", no_neighbours),
    ("climbing EI, not log EI", (gradient,), "climbable", lambda af: af),
    ("without units of lengthscales", (gradient,), "ascend", ascend_in_one_unit),
]


def report(label: str, change: Callable[[GradientRefine], GradientRefine], *, smoke: bool) -> None:
    """Print the shares of one variant."""
    line: dict[str, object] = {"name": "search_ablation", "variant": label}
    for name in FAMILIES[:1] if smoke else FAMILIES:
        domain = metabo.family(name).domain
        search = change(GradientRefine.sized(domain.dim))
        rows = compare(
            name, 1 if smoke else 12, 0, (searcher("grid", domain), search), 4 if smoke else None
        )
        rows = rows[rows[:, 1:3].amax(-1) >= 1e-12]
        line[name] = round((rows[:, 2] >= (1 - 1e-6) * rows[:, 1]).double().mean().item(), 4)
    line["commit"] = commit()
    print(json.dumps(line), flush=True)


def ties(*, smoke: bool) -> None:
    """Print EI's median regret on Hartmann-3 with either rule for ties."""

    def lowest(score: Tensor, draw: Tensor) -> Tensor:
        return candidates.first_best(score)

    for label, rule in (("drawn", candidates.any_best), ("lowest index", lowest)):
        with patched(decide, "any_best", rule):
            run = metabo.evaluate(
                "hartmann-3",
                methods=["ei"],
                search="grid",
                tasks=2,
                budget=3 if smoke else None,
                task_file=None if smoke else TASKS,
            )
        median = run.methods["ei"].regret.quantile(0.5, 0)[2 if smoke else 19].item()
        line: dict[str, object] = {"name": "search_ablation", "variant": f"ties: {label}"}
        line |= {"median_regret_t20": round(median, 4), "commit": commit()}
        print(json.dumps(line), flush=True)


def main() -> None:
    """Report on every variant, then on ties."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a few steps on one task of Branin")
    smoke = parser.parse_args().smoke
    report("all of it", lambda search: search, smoke=smoke)
    report(
        "without the clouds",
        lambda search: replace(search, scatter=replace(search.scatter, k_cloud=0), k_global=9),
        smoke=smoke,
    )
    for label, modules, name, value in VARIANTS:
        with ExitStack() as stack:
            for module in modules:
                stack.enter_context(patched(module, name, value))
            report(label, lambda search: search, smoke=smoke)
    ties(smoke=smoke)


if __name__ == "__main__":
    main()
