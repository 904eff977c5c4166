"""Tuning a pendulum's controller: regret, and when a controller first kept the pendulum up."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from metabo.errors import OptionError
from metabo.evaluation.numbers import percent, significant
from metabo.evaluation.table import NOTHING, Table, at_steps, names
from metabo.paper.job import Job
from metabo.paper.kinds.kind import Kind, Picture
from metabo.paper.medians import (
    Published,
    bands,
    interval_table,
    median_table,
    regret_record,
    shown_steps,
)
from metabo.paper.published import PENDULUM
from metabo.paper.results import Record, Stored
from metabo.seeding import generator
from metabo.shapes import Float, Int
from metabo.tasks import family as family_of
from metabo.tasks.furuta import PendulumTasks

REGRET_STEPS = (1, 5, 10, 20, 30, 50)
TRIALS = (1, 2, 3, 5, 10, 25, 50)
"""Trials at which tables show the share of pendula kept up."""


def run(job: Job) -> Record:
    """Regret, and for each task the first trial that kept the pendulum up; 0 if none did."""
    unit = job.unit
    result = job.evaluated()
    part = family_of(unit.family).test()
    tasks = part.sample(unit.tasks, generator(unit.seed, unit.stream))
    if not isinstance(tasks, PendulumTasks):
        raise OptionError(f"The family `{unit.family}` has no pendulum to keep up. Use `furuta`.")
    first = first_stabilized(tasks, result.queries)
    return {**regret_record(result), "first_stabilized": first.tolist()}


def first_stabilized(tasks: PendulumTasks, queries: Float[Tensor, "E T D"]) -> Int[Tensor, " E"]:
    """The first trial, from 1, with the pendulum up for the full time; 0 where there is none."""
    share = tasks.trial(tasks.box.decode(queries))[1]
    is_up = share >= 1
    first = is_up.byte().argmax(-1) + 1
    return torch.where(is_up.any(-1), first, 0)


def tables(stored: Stored) -> list[Table]:
    """For each family the medians, with the published program's, and the share kept up."""
    steps = shown_steps(REGRET_STEPS, stored.size.budget)
    made = []
    for family in stored.experiment.families:
        made += [
            median_table(
                stored,
                family,
                steps,
                partial(_published, family),
                partial(significant, digits=3),
                f"{family}: median simple regret over {stored.size.tasks} pendula",
                "In brackets: the published program's median over 30 other pendula.",
            ),
            _kept_up(stored, family),
        ]
    return made


def page_tables(stored: Stored) -> list[Table]:
    """For each family the medians with intervals, and the share kept up."""
    steps = shown_steps(REGRET_STEPS, stored.size.budget)
    made = []
    for family in stored.experiment.families:
        medians = interval_table(stored, family, steps, partial(_published, family))
        made += [medians, _kept_up(stored, family)]
    return made


def figure(stored: Stored) -> Picture:
    """Regret above, the share of pendula kept up below; a column per family."""
    from matplotlib.figure import Figure

    from metabo.evaluation.plots import draw_curves, entitle, outside_legend, styles

    families = stored.experiment.families
    n = len(families)
    figure = Figure(figsize=(max(6.4, 4.8 * n), 7.2), layout="constrained", dpi=120)
    panels = figure.subplots(2, n, squeeze=False, sharex=True)
    for column, family in enumerate(families):
        upper, lower = panels[:, column]
        found = stored.by_method(family)
        draw_curves(upper, bands(stored, family), is_log=False)
        upper.set_title(family)
        upper.set_xlabel("")
        shown = styles(list(found))
        for name, result in found.items():
            steps = range(1, len(result["median"]) + 1)
            share = [_share(result["first_stabilized"], t) for t in steps]
            colour, dash, width = shown[name]
            lower.plot(steps, share, color=colour, linestyle=dash, linewidth=width, label=name)
        lower.set_ylim(-0.02, 1.02)
        lower.set_xlabel("trials t")
        lower.set_ylabel("share of pendula kept up")
        lower.grid(visible=True, alpha=0.3)
    outside_legend(figure)
    entitle(figure, stored.experiment.title)
    return figure


def shares(result: Record | None, trials: Sequence[int]) -> list[str]:
    """The share of pendula kept up by some trial, for each number of trials."""
    if result is None:
        return [NOTHING] * len(trials)
    return [percent(_share(result["first_stabilized"], t)) for t in trials]


def _kept_up(stored: Stored, family: str) -> Table:
    trials = [t for t in TRIALS if t <= stored.size.budget]
    title = (
        f"{family}: share of {stored.size.tasks} pendula kept up for the full time by some trial "
        "up to t"
    )
    methods = stored.experiment.methods
    rows = [(method, *shares(stored.result(family, method), trials)) for method in methods]
    return Table.of(title, [*names("method"), *at_steps(trials)], rows)


def _share(first: Sequence[int], t: int) -> float:
    return sum(0 < trial <= t for trial in first) / len(first)


def _published(family: str, method: str) -> Published:
    return PENDULUM.get((family, method), {})


KIND = Kind("control", run, tables, figure, page_tables)
