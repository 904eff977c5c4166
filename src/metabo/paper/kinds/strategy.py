"""Beliefs and scores of a learned AF in the first steps of a few runs."""

from typing import Any

import torch
from torch import Tensor

from metabo.evaluation.numbers import fixed, rounded, rounded_row
from metabo.evaluation.table import Table, names, numbers
from metabo.explain.on_tasks import Episode, Explanation, explain
from metabo.explain.trace import Step, View
from metabo.paper.job import Job
from metabo.paper.kinds.kind import Kind, Picture
from metabo.paper.results import Record, Stored
from metabo.tasks import family as family_of

STEPS = 4
"""Number of steps kept: the first query and the three after it."""
_STRIDE = 4
"""One in this many points of the interval is kept."""
_CURVES = ("mean", "std", "score", "log_ei", "truth")


def run(job: Job) -> Record:
    """Explain a few episodes, and return their observations, beliefs, scores and truths."""
    unit = job.unit
    made = explain(
        unit.artifact or unit.family,
        family=unit.family,
        tasks=unit.tasks,
        seed=unit.seed,
        budget=unit.budget,
        steps=list(range(1, min(STEPS, unit.budget) + 1)),
        search=unit.search,
    )
    return {
        "episodes": [
            {
                "title": one.title,
                "best": _best(one.steps[0].views[0]),
                "steps": [_record(step) for step in one.steps],
            }
            for one in made.episodes
        ]
    }


def tables(stored: Stored) -> list[Table]:
    """The query and the value of each step of each run, and the best value there is."""
    made = []
    for family in stored.experiment.families:
        result = stored.result(family, "metabo")
        found = [] if result is None else result["episodes"]
        rows = [
            (
                one["title"],
                *(f"{fixed(s['query'][0], 3)}: {fixed(s['value'], 3)}" for s in one["steps"]),
                fixed(one["best"], 3),
            )
            for one in found
        ]
        n_steps = len(found[0]["steps"]) if found else 0
        heads = [*(f"step {t}" for t in range(1, n_steps + 1)), "best value"]
        title = f"{family}: query and value at each step"
        made.append(Table.of(title, [*names("run"), *numbers(heads)], rows))
    return made


def figure(stored: Stored) -> Picture:
    """GP, truth and scores: a row per step, a column per run."""
    from metabo.explain.curves import curves_over_x

    (family,) = stored.experiment.families
    runs = episodes(stored.results[family, "metabo"]["result"])
    space = family_of(family).space
    return curves_over_x(Explanation(family, family, space, "value", runs, ()), runs)


def episodes(record: Record) -> tuple[Episode, ...]:
    """Stored episodes, as `explain` gives them."""
    return tuple(
        Episode(one["title"], tuple(_step(step) for step in one["steps"]))
        for one in record["episodes"]
    )


def _best(view: View) -> float | None:
    """The largest true value among the points that are shown."""
    return None if view.truth is None else rounded(float(view.truth.max()), 4)


def _record(step: Step) -> Record:
    (view,) = step.views
    curves = {name: getattr(view, name)[::_STRIDE] for name in _CURVES}
    numbers = {name: getattr(step, name) for name in _NUMBERS}
    return {
        **numbers,
        "seen_x": rounded_row(step.seen_x[:, 0], 4),
        "seen_y": rounded_row(step.seen_y, 4),
        "query": rounded_row(step.query, 4),
        "curves": {name: rounded_row(curve, 4) for name, curve in curves.items()},
    }


def _step(record: Record) -> Step:
    curves: dict[str, Any] = {name: _tensor(c) for name, c in record["curves"].items()}
    x = torch.linspace(0, 1, len(curves["mean"]), dtype=torch.float64)[:, None]
    numbers: dict[str, Any] = {name: record[name] for name in _NUMBERS}
    return Step(
        **numbers,
        seen_x=_tensor(record["seen_x"])[:, None],
        seen_y=_tensor(record["seen_y"]),
        query=_tensor(record["query"]),
        views=(View(x, **curves),),
    )


def _tensor(row: list[float]) -> Tensor:
    return torch.tensor(row, dtype=torch.float64)


_NUMBERS = (
    "number",
    "budget",
    "value",
    "told",
    "mean",
    "std",
    "score",
    "log_ei",
    "ei_rank",
    "ei_candidates",
)
KIND = Kind("strategy", run, tables, figure)
