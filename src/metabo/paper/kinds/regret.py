"""Median regret over the steps on drawn tasks: a panel for each family."""

from functools import partial

import numpy as np

from metabo.evaluation.numbers import scientific
from metabo.evaluation.table import Table
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
from metabo.paper.published import REGRET, STEPS
from metabo.paper.results import Record, Stored


def run(job: Job) -> Record:
    """Regret on each task, all in lockstep."""
    return regret_record(job.evaluated())


def tables(stored: Stored) -> list[Table]:
    """Medians of each family, with the published program's in brackets."""
    steps = shown_steps(STEPS, stored.size.budget)
    return [
        median_table(
            stored,
            family,
            steps,
            partial(_published, family),
            scientific,
            f"{family}: median simple regret over {stored.size.tasks} tasks",
            _NOTE,
        )
        for family in stored.experiment.families
    ]


def page_tables(stored: Stored) -> list[Table]:
    """Medians of each family with intervals."""
    steps = shown_steps(STEPS, stored.size.budget)
    return [
        interval_table(stored, family, steps, partial(_published, family))
        for family in stored.experiment.families
    ]


def figure(stored: Stored) -> Picture:
    """Regret over the steps: a panel per family."""
    from matplotlib.figure import Figure

    from metabo.evaluation.plots import draw_curves, entitle, outside_legend

    families = stored.experiment.families
    n_columns = min(3, len(families))
    n_rows = -(-len(families) // n_columns)
    figure = Figure(figsize=(4.6 * n_columns, 4.6 * n_rows), layout="constrained", dpi=120)
    panels = np.atleast_1d(figure.subplots(n_rows, n_columns)).flatten()
    for axes in panels[len(families) :]:
        axes.set_axis_off()
    for axes, family in zip(panels, families, strict=False):
        axes.set_title(family)
        draw_curves(axes, bands(stored, family))
    outside_legend(figure)
    entitle(figure, stored.experiment.title)
    return figure


def _published(family: str, method: str) -> Published:
    return dict(zip(STEPS, REGRET.get((family, method), ()), strict=False))


_NOTE = (
    "In brackets: the published program's median over its own 100 functions, which are different "
    "functions of the same family."
)
KIND = Kind("regret", run, tables, figure, page_tables)
