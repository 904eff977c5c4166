"""How tables and progress bars look in a terminal."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from metabo.evaluation.results import Evaluation
from metabo.evaluation.table_summary import marks, table_rows
from metabo.metrics import quantiles
from metabo.paper.catalogue import Unit
from metabo.paper.runner import run
from metabo.paper.runs.job import STUDIES


def progress_bars(text: str = "steps") -> Progress:
    """Bars on standard error, with a text after each count."""
    return Progress(
        TextColumn("{task.description:>12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(text),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def empty_table(title: str, *columns: str) -> Table:
    """A table without rows; its first column is never broken."""
    table = Table(
        title=Text(title, "bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    return table


def run_with_bars(
    units: list[Unit], out: Path, *, device: str = "cpu", artifacts: Path = STUDIES
) -> int:
    """Run units under two bars, of all units and of the steps of one; say how many cannot run."""
    failed = 0
    with progress_bars("{task.fields[what]}") as progress:
        whole = progress.add_task("results", total=len(units), what="")
        steps = progress.add_task("steps", total=None, what="")

        def on_unit(unit: Unit, done: int, total: int) -> None:
            what = f"{unit.family} {unit.label}"
            progress.update(steps, completed=done, total=total, what=what)
            progress.update(whole, completed=units.index(unit))

        for unit, reason in run(units, out, on_unit, device=device, artifacts=artifacts):
            failed += 1
            progress.console.print(
                Text(f"{unit.experiment}, {unit.family}, {unit.label} cannot run: {reason}")
            )
        progress.update(whole, completed=len(units))
    return failed


def summary(evaluation: Evaluation) -> Table:
    """Median regret of each method at a few steps, its curve in small, and its time."""
    marks = [t for t in (1, 5, 10, 20, 30, 50, 100) if t < evaluation.budget] + [evaluation.budget]
    curves = {
        name: quantiles(r.regret, [0.5])[0].tolist() for name, r in evaluation.methods.items()
    }
    logs = [math.log10(max(v, 1e-16)) for curve in curves.values() for v in curve]
    table = empty_table(
        f"{evaluation.family}: median simple regret, {evaluation.tasks} tasks",
        "method",
        *(f"t={t}" for t in marks),
        "log(regret)",
        "s/run",
    )
    for name, curve in curves.items():
        numbers = [f"{curve[t - 1]:.1e}" for t in marks]
        seconds = f"{evaluation.methods[name].seconds_per_episode:.4f}"
        table.add_row(Text(name), *numbers, _spark(curve, min(logs), max(logs)), seconds)
    return table


def means(title: str, records: Mapping[str, dict[str, Any]], budget: int, *, width: int) -> Group:
    """Mean regret of each method on a table's data sets at a few steps, with intervals.

    Steps that do not fit beside the others in so many characters go below, in a table of their
    own: no number is broken.
    """
    steps = marks(budget)
    heads = ["method", *(f"t={t}" for t in steps), f"unsolved\nat t={budget}"]
    rows = [[c.replace(" (", "\n(") for c in row] for row in table_rows(records, records, steps)]
    columns = [[head, *(row[i] for row in rows)] for i, head in enumerate(heads)]
    # Each column has a space before and one after it.
    widths = [2 + max(len(line) for c in cells for line in c.split("\n")) for cells in columns]
    parts: list[list[int]] = [[]]
    for i in range(1, len(columns)):
        if parts[-1] and 1 + widths[0] + sum(widths[j] for j in (*parts[-1], i)) > width:
            parts.append([])
        parts[-1].append(i)
    tables = []
    for number, part in enumerate(parts):
        chosen = (0, *part)
        table = empty_table("" if number else title, *(heads[i] for i in chosen))
        for row in rows:
            table.add_row(*(Text(row[i]) for i in chosen))
        tables.append(table)
    return Group(*tables)


def _spark(curve: list[float], low: float, high: float) -> str:
    """A curve as a row of blocks on a logarithmic scale, at most ten of them."""
    blocks = "▁▂▃▄▅▆▇█"
    stride = max(1, math.ceil(len(curve) / 10))
    heights = [(math.log10(max(v, 1e-16)) - low) / max(high - low, 1e-9) for v in curve[::stride]]
    return "".join(blocks[min(7, int(8 * h))] for h in heights)
