"""Run the units of experiments, one at a time, each into a file of its own."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch

from metabo.errors import DataError, MetaBOError
from metabo.evaluation.methods import identity
from metabo.evaluation.results import versions
from metabo.inputs import parse_json, read_bytes
from metabo.paper.catalogue import Unit
from metabo.paper.runs import RUNS, Job, Record
from metabo.paper.runs.job import STUDIES, short
from metabo.store import save_json, write_all
from metabo.version import commit

OnUnit = Callable[[Unit, int, int], None]
"""Told how many steps of a unit are done, and of how many."""


def stored(unit: Unit, folder: Path) -> Record | None:
    """The unit's result; None where there is none, or one of another configuration or artifact."""
    try:
        record = parse_json(read_bytes(folder / unit.path, "result"), "The result")
    except DataError:
        return None
    if not isinstance(record, dict) or "result" not in record:
        return None
    wanted = json.loads(json.dumps(_heading(unit)))  # as JSON has it, which knows no tuples
    return record if all(record.get(key) == value for key, value in wanted.items()) else None


def missing(units: Iterable[Unit], folder: Path) -> list[Unit]:
    """The units without a stored result."""
    return [unit for unit in units if stored(unit, folder) is None]


def run(
    units: Iterable[Unit],
    folder: Path,
    on_unit: OnUnit | None = None,
    *,
    device: str = "cpu",
    artifacts: Path = STUDIES,
) -> Iterator[tuple[Unit, str]]:
    """Run and store each unit; give those that cannot be run, with the reason, and go on.

    Args:
        units: What to run.
        folder: Of the results.
        on_unit: Called after each step of a unit.
        device: `cpu` or `cuda`; run times are taken on the CPU always.
        artifacts: Folder of the training runs of studies: finished ones are taken as they are.
    """
    for unit in units:

        def on_step(done: int, n: int, unit: Unit = unit) -> None:
            if on_unit is not None:
                on_unit(unit, done, n)

        start = time.perf_counter()
        where = "cpu" if unit.kind == "seconds" else device
        try:
            result = RUNS[unit.kind](Job(unit, where, artifacts, on_step))
        except MetaBOError as error:
            yield unit, str(error)
            continue
        record = {
            **_heading(unit),
            "versions": versions(),
            "commit": commit(),
            "device": _device(where),
            "threads": 1 if unit.kind == "seconds" else torch.get_num_threads(),
            "seconds": short(time.perf_counter() - start),
            "result": result,
        }
        path = folder / unit.path
        write_all(path.parent, {path.name: save_json(record)})


def _heading(unit: Unit) -> Record:
    """All that a result depends on, as far as it can be told without running it."""
    names = unit.settings or (unit.method,)
    # The AFs of a study are not kept: what it depends on is how they are trained.
    methods = (
        {}
        if unit.sources
        else {name: identity(name, unit.family, unit.artifact) for name in names}
    )
    return {"configuration": unit.configuration, "methods": methods}


def _device(device: str) -> str:
    if device != "cpu":
        return torch.cuda.get_device_name(device)
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
