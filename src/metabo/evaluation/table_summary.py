"""Summary of runs on tables: mean regret with intervals, and the share of unsolved data sets."""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from metabo.evaluation.numbers import fixed, percent, rounded_row
from metabo.evaluation.table import NOTHING, Cell, Column, Row, Table, at_steps, names
from metabo.metrics import bootstrap_mean, fraction_solved
from metabo.shapes import Float

SOLVED = 1e-9
"""Largest regret at which a data set's best configuration counts as found."""
MARKS = (1, 2, 3, 5, 10, 15, 20, 30)
"""Steps that tables show."""
Record = dict[str, Any]


def table_record(regret: Float[Tensor, "R E T"]) -> Record:
    """Summarize R runs on each of E data sets, starting from the mean of each data set's runs."""
    low, mean, high = bootstrap_mean(regret.mean(0))
    unsolved = 1 - fraction_solved(regret.flatten(0, 1), SOLVED)
    curves = {"mean": mean, "low": low, "high": high, "unsolved": unsolved}
    return {
        **{name: rounded_row(curve, 5) for name, curve in curves.items()},
        "regret": [rounded_row(row, 5) for row in regret.mean(0)],
    }


def mean_table(
    title: str,
    records: Mapping[str, Record],
    steps: Iterable[int],
    *,
    methods: Iterable[str] | None = None,
    notes: Iterable[str] = (),
) -> Table:
    """Tabulate each method's mean regret with its interval, and the share unsolved.

    Args:
        title: The table's title.
        records: Records of `table_record` by method.
        steps: The steps to show.
        methods: The methods to show, with dashes where there is no record; all if None.
        notes: The table's notes.
    """
    steps = list(steps)
    columns = [*names("method"), *at_steps(steps), Column(f"unsolved at t={steps[-1]}")]
    shown = list(records if methods is None else methods)
    rows: list[Row] = [(method, *_cells(records.get(method), steps)) for method in shown]
    return Table.of(title, columns, rows, notes)


def marks(budget: int) -> list[int]:
    """Return the steps to show for a budget, including the last."""
    return [t for t in MARKS if t < budget] + [budget]


def _cells(record: Record | None, steps: list[int]) -> list[Cell]:
    if record is None:
        return [Cell(NOTHING)] * (len(steps) + 1)
    mean, low, high = (record[key] for key in ("mean", "low", "high"))
    cells = [
        Cell(fixed(mean[t - 1], 4), f"{fixed(low[t - 1], 4)}-{fixed(high[t - 1], 4)}")
        for t in steps
    ]
    return [*cells, Cell(percent(record["unsolved"][-1]))]
