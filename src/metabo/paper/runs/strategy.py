"""What a learned AF believes and wants in the first steps of a few runs, as numbers."""

from typing import Any

import torch
from torch import Tensor

from metabo.explain.on_tasks import Episode, explain
from metabo.explain.trace import Step, View
from metabo.paper.runs.job import Job, Record

STEPS = 4
"""Looked at: before the first query and after each of three."""
_STRIDE = 4
"""Of the points of the interval, every so many are kept."""
_CURVES = ("mean", "std", "score", "log_ei", "truth")


def strategy(job: Job) -> Record:
    """Episodes with their steps: what was seen, believed, scored and true."""
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


def episodes(record: Record) -> tuple[Episode, ...]:
    """Stored episodes, to be drawn."""
    return tuple(
        Episode(one["title"], tuple(_step(step) for step in one["steps"]))
        for one in record["episodes"]
    )


def _best(view: View) -> float | None:
    """The largest value of the points looked at."""
    return None if view.truth is None else float(f"{view.truth.max():.4g}")


def _record(step: Step) -> Record:
    (view,) = step.views
    curves = {name: getattr(view, name)[::_STRIDE] for name in _CURVES}
    numbers = {name: getattr(step, name) for name in _NUMBERS}
    return {
        **numbers,
        "seen_x": _digits(step.seen_x[:, 0]),
        "seen_y": _digits(step.seen_y),
        "query": _digits(step.query),
        "curves": {name: _digits(curve) for name, curve in curves.items()},
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


def _digits(row: Tensor) -> list[float]:
    return [float(f"{v:.4g}") for v in row.tolist()]


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
