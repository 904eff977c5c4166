"""`metabo crossvalidate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from metabo.cli.parameters import Settings

if TYPE_CHECKING:
    from metabo.evaluation.crossvalidate import CrossValidation, Folds


def crossvalidate_(
    family_: Annotated[
        str,
        typer.Argument(
            metavar="FAMILY",
            show_default=False,
            help="Family of tables, such as svm or table:FOLDER.",
        ),
    ],
    folds: Annotated[
        str,
        typer.Option(
            metavar="N|leave-one-out", help="Number of folds that the data sets are divided into."
        ),
    ] = "7",
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Methods to compare, separated by commas.",
            show_default="metabo,ei,taf-me,taf-r,portfolio,mean-rank,random",
        ),
    ] = None,
    validate: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of data sets in each fold held out to decide when to stop; with 0, "
            "training runs to the end.",
        ),
    ] = 5,
    seed: Annotated[int, typer.Option(help="Random seed for folds, training and test runs.")] = 0,
    jobs: Annotated[
        int,
        typer.Option(min=1, max=1024, help="Number of training runs at a time, one core each."),
    ] = 2,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Output folder of the runs.",
            show_default="runs/crossvalidate-FAMILY",
        ),
    ] = None,
    settings: Settings = None,
) -> None:
    """Estimate how well a learned acquisition function would serve a new data set.

    Safe to interrupt: run it again to resume.
    """
    from metabo.evaluation.crossvalidate import METHODS
    from metabo.store import require_writable
    from metabo.tasks import family
    from metabo.training import read_settings

    names = (
        list(METHODS)
        if methods is None
        else [name.strip() for name in methods.split(",") if name.strip()]
    )
    family(family_)  # a mistake in its name is reported before one in the folder's
    folder = out or Path("runs") / f"crossvalidate-{family_.replace(':', '-').replace('/', '-')}"
    require_writable(folder, ("crossvalidation.json", "crossvalidation.png"))
    changes: dict[str, object] = {"validate": validate, "jobs": jobs, "seed": seed}
    changes |= read_settings(settings or [])
    outcome = with_bars(family_, folder, read_folds(folds), names, changes)
    show(outcome, folder)


def read_folds(text: str) -> "Folds":
    """A number of folds, or the word for one per data set."""
    from metabo.evaluation.crossvalidate import LEAVE_ONE_OUT
    from metabo.options import convert

    return (
        LEAVE_ONE_OUT
        if text == LEAVE_ONE_OUT
        else cast(int, convert(text, int, f"`--folds`, unless it is `{LEAVE_ONE_OUT}`,"))
    )


def with_bars(
    family: str,
    folder: Path,
    folds: "Folds",
    methods: list[str],
    changes: dict[str, object],
) -> "CrossValidation":
    """Cross-validate under progress bars."""
    from rich.progress import TaskID

    from metabo.cli.progress import progress_bars
    from metabo.evaluation.crossvalidate import cross_validate

    progress, bars = progress_bars("{task.fields[unit]}"), dict[str, TaskID]()

    def on_progress(what: str, done: int, total: int) -> None:
        progress.start()
        if what not in bars:
            # What an earlier call has done says nothing of how fast this one is.
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


def show(outcome: "CrossValidation", folder: Path) -> None:
    """Print the table and draw the picture."""
    from metabo.cli.console import say
    from metabo.cli.tables import print_table
    from metabo.evaluation.plots import plot_tables
    from metabo.evaluation.table_summary import marks, mean_table, table_record
    from metabo.store import write_all

    n = len(outcome.datasets)
    title = f"{outcome.family}: mean regret on {n} data sets, each learned from the other folds"
    records = {name: table_record(regret) for name, regret in outcome.regret.items()}
    print_table(mean_table(title, records, marks(outcome.budget)))
    stops = ", ".join(map(str, outcome.stops))
    say(f"Iterations after which the folds stopped: {stops}; for all sources: {outcome.stop}")
    picture = folder / "crossvalidation.png"
    write_all(folder, {picture.name: lambda p: plot_tables(records, title, p)})
    say(f"Wrote {folder / 'crossvalidation.json'} and {picture}")
