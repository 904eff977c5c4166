"""Regret over the steps: on drawn tasks, and on a table's data sets."""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from metabo.errors import OptionError
from metabo.evaluation.table_summary import table_record
from metabo.paper.catalogue import Unit
from metabo.paper.runs.job import Job, Record, regret_record
from metabo.store import save_json
from metabo.tasks import family as family_of

REPEATS = 5
"""Runs of a method on a table: ties and random search depend on random numbers."""


def regret(job: Job) -> Record:
    """Regret on each task, all in lockstep."""
    return regret_record(job.evaluated())


def table(job: Job) -> Record:
    """Regret on each data set, averaged over runs with other random numbers."""
    runs = []
    with TemporaryDirectory() as folder:
        # Written down, because the order of drawn tasks depends on the seed.
        tasks = Path(folder) / "tasks.json"
        save_json(_datasets(job.unit))(tasks)
        for repeat in range(REPEATS):

            def on_step(done: int, n: int, repeat: int = repeat) -> None:
                job.on_step(repeat * n + done, REPEATS * n)

            seed = job.unit.seed + repeat
            runs.append(job.evaluated(on_step=on_step, seed=seed, task_file=tasks).regret)
    return table_record(torch.stack(runs))


def _datasets(unit: Unit) -> list[dict[str, str]]:
    """The data sets kept for testing, as many as the unit has tasks."""
    known = family_of(unit.family).test().provenance
    if known is None:
        raise OptionError(f"The family `{unit.family}` has no data sets. Take `svm`.")
    return [{"dataset": name} for name in known.test[: unit.tasks]]
