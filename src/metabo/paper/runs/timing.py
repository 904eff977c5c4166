"""Run times."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from metabo.paper.runs.job import Job, Record, short


def seconds(job: Job) -> Record:
    """One episode after the other on one thread of the CPU, each with a task of its own."""
    taken, n_tasks = [], job.unit.tasks
    with _one_thread():
        for number in range(n_tasks):

            def on_step(done: int, n: int, number: int = number) -> None:
                job.on_step(number * n + done, n_tasks * n)

            seed = job.unit.seed + number
            result = job.evaluated(on_step=on_step, tasks=1, seed=seed, device="cpu")
            taken.append(short(result.seconds_per_episode))
    return {"seconds_per_episode": short(sum(taken) / len(taken)), "episodes": taken}


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
