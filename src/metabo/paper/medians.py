"""Median regret over the steps of a run: its stored form and its tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import torch

from metabo.evaluation.numbers import rounded, rounded_row, significant
from metabo.evaluation.results import MethodResult
from metabo.evaluation.table import NOTHING, Cell, Row, Table, at_steps, names
from metabo.metrics import bootstrap_median, quantiles
from metabo.paper.results import Record, Stored

Published = Mapping[int, float]
"""Published medians by step."""


def regret_record(result: MethodResult) -> Record:
    """Median, 30-70 % band and every task's regret over the steps."""
    q30, median, q70 = quantiles(result.regret, [0.3, 0.5, 0.7])
    return {
        "median": rounded_row(median),
        "q30": rounded_row(q30),
        "q70": rounded_row(q70),
        "regret": [rounded_row(row) for row in result.regret],
        "seconds_per_episode": rounded(result.seconds_per_episode),
    }


def bands(stored: Stored, family: str) -> dict[str, np.ndarray]:
    """The 30 % quantile, median and 70 % quantile of each method on a family."""
    return {
        method: np.array([result[key] for key in ("q30", "median", "q70")])
        for method, result in stored.by_method(family).items()
    }


def shown_steps(steps: Iterable[int], budget: int) -> list[int]:
    """The steps below the budget, and the budget itself."""
    return [t for t in steps if t < budget] + [budget]


def median_table(
    stored: Stored,
    family: str,
    steps: Sequence[int],
    published: Callable[[str], Published],
    written: Callable[[float], str],
    title: str,
    note: str,
) -> Table:
    """The median of each method at some steps, with the published one in brackets.

    Args:
        stored: The experiment's results.
        family: The family to show.
        steps: The steps to show.
        published: Gives the published medians of a method.
        written: Formats a number.
        title: The table's title.
        note: Says what the published numbers are; left out where there are none.
    """
    rows: list[Row] = []
    for method in stored.experiment.methods:
        result, theirs = stored.result(family, method), published(method)
        rows.append(
            (
                method,
                *(
                    Cell(
                        NOTHING if result is None else written(result["median"][t - 1]),
                        written(theirs[t]) if t in theirs else "",
                    )
                    for t in steps
                ),
            )
        )
    has_published = any(t in published(m) for m in stored.experiment.methods for t in steps)
    notes = [note] if has_published else []
    return Table.of(title, [*names("method"), *at_steps(steps)], rows, notes)


def interval_table(
    stored: Stored, family: str, steps: Sequence[int], published: Callable[[str], Published]
) -> Table:
    """Tabulate the median of each method with a 90 % interval; published ones get extra rows."""
    rows: list[Row] = []
    for method in stored.experiment.methods:
        result, theirs = stored.result(family, method), published(method)
        if result is None:
            rows.append((method, *[NOTHING] * len(steps)))
        else:
            chosen = torch.tensor(result["regret"], dtype=torch.float64)
            ends = bootstrap_median(chosen[:, [t - 1 for t in steps]])
            rows.append((method, *(_interval(*end) for end in ends.mT.tolist())))
        if theirs:
            cells = (significant(theirs[t]) if t in theirs else NOTHING for t in steps)
            rows.append((f"{method}, published program", *cells))
    title = (
        f"{family}: median simple regret over {stored.size.tasks} tasks, with a 90 % interval "
        "(bootstrap over tasks)"
    )
    return Table.of(title, [*names("method"), *at_steps(steps)], rows)


def _interval(low: float, median: float, high: float) -> Cell:
    return Cell(significant(median), f"{significant(low)} to {significant(high)}")
