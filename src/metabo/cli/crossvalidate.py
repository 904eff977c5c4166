"""`metabo crossvalidate`."""

from pathlib import Path
from typing import Annotated, cast

import typer
from rich.progress import TaskID

from metabo.cli.console import console, say
from metabo.cli.display import means, progress_bars
from metabo.evaluation.crossvalidate import (
    LEAVE_ONE_OUT,
    METHODS,
    CrossValidation,
    Folds,
    cross_validate,
)
from metabo.evaluation.table_summary import table_record
from metabo.options import convert
from metabo.store import require_writable, write_all
from metabo.tasks import family
from metabo.training import read_settings


def crossvalidate_(
    family_: Annotated[
        str, typer.Argument(metavar="FAMILY", help="Of tables, such as svm or table:FOLDER.")
    ],
    folds: Annotated[
        str, typer.Option(help="Parts that the data sets are dealt to, or leave-one-out.")
    ] = "7",
    methods: Annotated[
        str, typer.Option(help="Methods to compare, separated by commas.")
    ] = ",".join(METHODS),
    validate: Annotated[
        int,
        typer.Option(help="Data sets kept apart to tell when to stop; 0: train to the end."),
    ] = 5,
    seed: Annotated[int, typer.Option(help="Of folds, trainings and runs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Trainings at a time, each on one core.")] = 2,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the runs.", show_default="runs/crossvalidate-FAMILY"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A field of TrainConfig; repeatable."),
    ] = None,
) -> None:
    """Tell how well a learned AF would serve new data sets; killed, the same command goes on."""
    names = [name.strip() for name in methods.split(",") if name.strip()]
    family(family_)  # a mistake in its name is told before one in the folder's
    folder = out or Path("runs") / f"crossvalidate-{family_.replace(':', '-').replace('/', '-')}"
    require_writable(folder, ("crossvalidation.json", "crossvalidation.png"))
    changes: dict[str, object] = {"validate": validate, "jobs": jobs, "seed": seed}
    changes |= read_settings(settings or [])
    outcome = with_bars(family_, folder, read_folds(folds), names, changes)
    show(outcome, folder)


def read_folds(text: str) -> Folds:
    """A number of folds, or the word for one per data set."""
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


def show(outcome: CrossValidation, folder: Path) -> None:
    """Print the table and draw the picture."""
    from metabo.evaluation.plots import plot_tables  # matplotlib is slow to import

    n = len(outcome.datasets)
    title = f"{outcome.family}: mean regret on {n} data sets, each learned from the other folds"
    records = {name: table_record(regret) for name, regret in outcome.regret.items()}
    console.print(means(title, records, outcome.budget, width=console.width))
    stops = ", ".join(map(str, outcome.stops))
    say(f"Iterations after which the folds stopped: {stops}; for all sources: {outcome.stop}")
    picture = folder / "crossvalidation.png"
    write_all(folder, {picture.name: lambda p: plot_tables(records, title, p)})
    say(f"Wrote {folder / 'crossvalidation.json'} and {picture}")
