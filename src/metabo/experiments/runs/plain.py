"""Regret over the steps: on drawn tasks, and on a table's data sets."""

import torch

from metabo.experiments.runs.job import Job, Record, regret_record
from metabo.experiments.tables import table_record

REPEATS = 5
"""Runs of a method on a table: ties and random search depend on random numbers."""


def regret(job: Job) -> Record:
    """Regret on each task, all in lockstep."""
    return regret_record(job.evaluated())


def table(job: Job) -> Record:
    """Regret on each data set, averaged over runs with other random numbers."""
    runs = []
    for repeat in range(REPEATS):

        def on_step(done: int, n: int, repeat: int = repeat) -> None:
            job.on_step(repeat * n + done, REPEATS * n)

        runs.append(job.evaluated(on_step=on_step, seed=job.unit.seed + repeat).regret)
    return table_record(torch.stack(runs))
