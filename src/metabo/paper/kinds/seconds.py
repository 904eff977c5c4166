"""Run times: seconds per episode, beside the paper's."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import torch

from metabo.evaluation.numbers import rounded, significant
from metabo.evaluation.table import NOTHING, Cell, Row, Table, names, numbers
from metabo.paper.job import Job
from metabo.paper.kinds.kind import Kind, Picture
from metabo.paper.published import SECONDS
from metabo.paper.results import Record, Stored


def run(job: Job) -> Record:
    """Time one episode after the other on one CPU thread, each on a different task."""
    taken, n_tasks = [], job.unit.tasks
    with _one_thread():
        for number in range(n_tasks):

            def on_step(done: int, n: int, number: int = number) -> None:
                job.on_step(number * n + done, n_tasks * n)

            seed = job.unit.seed + number
            result = job.evaluated(on_step=on_step, tasks=1, seed=seed, device="cpu")
            taken.append(rounded(result.seconds_per_episode))
    return {"seconds_per_episode": rounded(sum(taken) / len(taken)), "episodes": taken}


def tables(stored: Stored) -> list[Table]:
    """Seconds of each method, a column per family, with the paper's in brackets."""
    size = stored.size
    title = f"Seconds per episode of {size.budget} steps, one thread, mean of {size.tasks}"
    note = "In brackets: the paper's seconds, for 30 steps."
    return [seconds_table(stored, stored.experiment.methods, SECONDS, title, note)]


def seconds_table(
    stored: Stored,
    methods: Sequence[str],
    published: Mapping[str, Sequence[float]],
    title: str,
    note: str,
) -> Table:
    """Seconds per episode of some methods with published ones in brackets, family by family."""
    families = stored.experiment.families
    rows: list[Row] = []
    for method in methods:
        cells = []
        for number, family in enumerate(families):
            result, theirs = stored.result(family, method), published.get(method)
            ours = NOTHING if result is None else significant(result["seconds_per_episode"])
            cells.append(Cell(ours, "" if theirs is None else f"{theirs[number]:g}"))
        rows.append((method, *cells))
    return Table.of(title, [*names("method"), *numbers(families)], rows, [note])


def figure(stored: Stored) -> Picture:
    """Our times as dots and the paper's as crosses, on the first family."""
    from matplotlib.figure import Figure

    from metabo.evaluation.plots import COLOURS, entitle

    figure = Figure(figsize=(6.4, 4.4), layout="constrained", dpi=120)
    axes = figure.subplots()
    family = stored.experiment.families[0]
    found = stored.by_method(family)
    rows = np.arange(len(found))
    ours = [result["seconds_per_episode"] for result in found.values()]
    theirs = [SECONDS[method][0] for method in found]
    axes.scatter(ours, rows, color=COLOURS[0], label="this package")
    axes.scatter(theirs, rows, marker="x", color=COLOURS[1], label="the paper")
    axes.set_yticks(rows, list(found))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"seconds per episode on {family}")
    axes.grid(visible=True, axis="x", alpha=0.3)
    axes.legend(frameon=False)
    entitle(figure, stored.experiment.title)
    return figure


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


KIND = Kind("seconds", run, tables, figure, is_timed=True)
