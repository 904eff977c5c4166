"""Run the units of experiments one at a time, and store each in its own file."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch

from metabo.errors import MetaBOError
from metabo.evaluation.numbers import rounded
from metabo.evaluation.results import versions
from metabo.paper import STUDY_RUNS
from metabo.paper.catalogue import Unit
from metabo.paper.job import Job
from metabo.paper.kinds import kind_of
from metabo.paper.results import heading
from metabo.store import save_json, write_all
from metabo.version import commit

OnUnit = Callable[[Unit, int, int], None]
"""Called with a unit, the number of its steps that are done, and the number of all its steps."""


def run(
    units: Iterable[Unit],
    folder: Path,
    on_unit: OnUnit | None = None,
    *,
    device: str = "cpu",
    artifacts: Path = STUDY_RUNS,
) -> Iterator[tuple[Unit, str]]:
    """Run and store each unit; yield those that cannot be run with the reason, and continue.

    Args:
        units: The units to run.
        folder: The folder of the results.
        on_unit: Called after each step of a unit.
        device: `cpu` or `cuda`; run times are always measured on the CPU.
        artifacts: Folder of the training runs of studies; finished ones are used as they are.
    """
    for unit in units:

        def on_step(done: int, n: int, unit: Unit = unit) -> None:
            if on_unit is not None:
                on_unit(unit, done, n)

        start = time.perf_counter()
        kind = kind_of(unit.kind)
        where = "cpu" if kind.is_timed else device
        try:
            result = kind.run(Job(unit, where, artifacts, on_step))
        except MetaBOError as error:
            yield unit, str(error)
            continue
        record = {
            **heading(unit),
            "versions": versions(),
            "commit": commit(),
            "device": _device(where),
            "threads": 1 if kind.is_timed else torch.get_num_threads(),
            "seconds": rounded(time.perf_counter() - start),
            "result": result,
        }
        path = folder / unit.path
        write_all(path.parent, {path.name: save_json(record)})


def _device(device: str) -> str:
    if device != "cpu":
        return torch.cuda.get_device_name(device)
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
