"""The work of `metabo crossvalidate`, which `metabo train --folds` shares."""

from pathlib import Path
from typing import cast

from rich.progress import TaskID

from metabo.cli.console import say
from metabo.cli.progress import progress_bars
from metabo.cli.tables import print_table
from metabo.evaluation.crossvalidate import LEAVE_ONE_OUT, CrossValidation, Folds, cross_validate
from metabo.evaluation.plots import plot_tables
from metabo.evaluation.table_summary import marks, mean_table, table_record
from metabo.options import convert
from metabo.store import write_all


def read_folds(text: str) -> Folds:
    """Read a number of folds, or `leave-one-out` for one fold per data set."""
    return (
        LEAVE_ONE_OUT
        if text == LEAVE_ONE_OUT
        else cast(int, convert(text, int, f"`--folds`, unless it is `{LEAVE_ONE_OUT}`,"))
    )


def with_bars(
    family: str,
    folder: Path,
    folds: Folds,
    methods: list[str],
    changes: dict[str, object],
) -> CrossValidation:
    """Cross-validate under progress bars."""
    progress, bars = progress_bars("{task.fields[unit]}"), dict[str, TaskID]()

    def on_progress(what: str, done: int, total: int) -> None:
        progress.start()
        if what not in bars:
            # Iterations of an earlier call must not count in the speed of this one.
            unit = "folds" if what == "testing" else "iterations"
            bars[what] = progress.add_task(what, total=total, completed=done, unit=unit)
        progress.update(bars[what], completed=done, total=total)

    try:
        return cross_validate(
            family,
            out=folder,
            folds=folds,
            methods=methods,
            on_progress=on_progress,
            **changes,  # type: ignore[arg-type]
        )
    finally:
        if bars:
            progress.stop()


def show(outcome: CrossValidation, folder: Path) -> None:
    """Print the table and draw the picture."""
    n = len(outcome.datasets)
    title = f"{outcome.family}: mean regret on {n} data sets, each learned from the other folds"
    records = {name: table_record(regret) for name, regret in outcome.regret.items()}
    print_table(mean_table(title, records, marks(outcome.budget)))
    stops = ", ".join(map(str, outcome.stops))
    say(f"Iterations after which the folds stopped: {stops}; for all sources: {outcome.stop}")
    picture = folder / "crossvalidation.png"
    write_all(folder, {picture.name: lambda p: plot_tables(records, title, p)})
    say(f"Wrote {folder / 'crossvalidation.json'} and {picture}")
