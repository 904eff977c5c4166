"""Run the units of experiments, one at a time, each into a file of its own."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from metabo.errors import MetaBOError
from metabo.experiments.catalogue import Unit
from metabo.experiments.evaluate import evaluate, versions
from metabo.experiments.methods import identity
from metabo.experiments.tables import table_record
from metabo.metrics import quantiles
from metabo.options import parse
from metabo.store import save_json, write_all
from metabo.version import commit

REPEATS = 5
"""Runs of a method on a table: ties and random search depend on random numbers."""
OnUnit = Callable[[Unit, int, int], None]
"""Told how many steps of a unit are done, and of how many."""
Record = dict[str, Any]


def stored(unit: Unit, folder: Path) -> Record | None:
    """The unit's result; None where there is none, or one of another configuration or artifact."""
    try:
        record = json.loads((folder / unit.path).read_text())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or "result" not in record:
        return None
    wanted = json.loads(json.dumps(_heading(unit)))  # as JSON has it, which knows no tuples
    return record if all(record.get(key) == value for key, value in wanted.items()) else None


def missing(units: Iterable[Unit], folder: Path) -> list[Unit]:
    """The units without a stored result."""
    return [unit for unit in units if stored(unit, folder) is None]


def run(
    units: Iterable[Unit], folder: Path, on_unit: OnUnit | None = None
) -> Iterator[tuple[Unit, str]]:
    """Run and store each unit; give those that cannot be run, with the reason, and go on."""
    for unit in units:
        start = time.perf_counter()
        try:
            result = _RUNS[unit.kind](unit, on_unit or (lambda *_: None))
        except MetaBOError as error:
            yield unit, str(error)
            continue
        record = {
            **_heading(unit),
            "versions": versions(),
            "commit": commit(),
            "device": _device(),
            "threads": 1 if unit.kind == "seconds" else torch.get_num_threads(),
            "seconds": _short(time.perf_counter() - start),
            "result": result,
        }
        path = folder / unit.path
        write_all(path.parent, {path.name: save_json(record)})


def _heading(unit: Unit) -> Record:
    """All that a result depends on, as far as it can be told without running it."""
    names = unit.settings or (unit.method,)
    methods = {name: identity(name, parse(unit.family)[0]) for name in names}
    configuration = asdict(unit)
    if unit.hyperparameters == "known":  # as all were before there was a choice
        del configuration["hyperparameters"]
    return {"configuration": configuration, "methods": methods}


def _regret(unit: Unit, on_unit: OnUnit) -> Record:
    regret, seconds = _evaluated(unit, unit.method, lambda done, n: on_unit(unit, done, n))
    q30, median, q70 = quantiles(regret, [0.3, 0.5, 0.7])
    return {
        "median": _shorts(median),
        "q30": _shorts(q30),
        "q70": _shorts(q70),
        "regret": [_shorts(row) for row in regret],
        "seconds_per_episode": _short(seconds),
    }


def _table(unit: Unit, on_unit: OnUnit) -> Record:
    """Regret on each data set, averaged over runs with other random numbers."""
    runs = []
    for repeat in range(REPEATS):

        def on_step(done: int, n: int, repeat: int = repeat) -> None:
            on_unit(unit, repeat * n + done, REPEATS * n)

        runs.append(_evaluated(unit, unit.method, on_step, seed=unit.seed + repeat)[0])
    regret = torch.stack(runs)
    return table_record(regret)


def _seconds(unit: Unit, on_unit: OnUnit) -> Record:
    """One episode after the other on one thread, each with a task of its own."""
    seconds = []
    with _one_thread():
        for number in range(unit.tasks):

            def on_step(done: int, n: int, number: int = number) -> None:
                on_unit(unit, number * n + done, unit.tasks * n)

            _, each = _evaluated(unit, unit.method, on_step, tasks=1, seed=unit.seed + number)
            seconds.append(_short(each))
    return {"seconds_per_episode": _short(sum(seconds) / len(seconds)), "episodes": seconds}


def _tuning(unit: Unit, on_unit: OnUnit) -> Record:
    """Median regret summed over the steps, for every setting; the least is the best."""
    total: dict[str, float] = {}
    for number, setting in enumerate(unit.settings):
        regret, _ = _evaluated(unit, setting, lambda *_: None)
        total[setting] = _short(regret.quantile(0.5, 0).sum().item())
        on_unit(unit, number + 1, len(unit.settings))
    return {"total": total, "best": min(total, key=lambda setting: total[setting])}


_RUNS: dict[str, Callable[[Unit, OnUnit], Record]] = {
    "regret": _regret,
    "seconds": _seconds,
    "tuning": _tuning,
    "table": _table,
}


def _evaluated(
    unit: Unit,
    method: str,
    on_step: Callable[[int, int], None],
    *,
    tasks: int | None = None,
    seed: int | None = None,
) -> tuple[Tensor, float]:
    """Regret and seconds per episode of a method."""
    evaluation = evaluate(
        unit.family,
        methods=[method],
        tasks=unit.tasks if tasks is None else tasks,
        seed=unit.seed if seed is None else seed,
        budget=unit.budget,
        search=unit.search,
        hyperparameters=unit.hyperparameters,
        stream=unit.stream,
        on_progress=lambda _, done, n: on_step(done, n),
    )
    (result,) = evaluation.methods.values()
    return result.regret, result.seconds_per_episode


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _short(value: float) -> float:
    """Three significant digits: all that a median over a hundred tasks is good for."""
    return float(f"{value:.3g}")


def _shorts(row: Tensor) -> list[float]:
    return [_short(v) for v in row.tolist()]


def _device() -> str:
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
