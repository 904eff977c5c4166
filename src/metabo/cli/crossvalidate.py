"""`metabo crossvalidate`."""

from pathlib import Path
from typing import Annotated

import typer

from metabo.cli.parameters import Settings, folder_of, names_in


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
            show_default="metabo, ei, taf-me, taf-r, portfolio, mean-rank, random",
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
    from metabo.cli.crossvalidating import read_folds, show, with_bars
    from metabo.evaluation.crossvalidate import METHODS
    from metabo.store import require_writable
    from metabo.tasks import family
    from metabo.training import read_settings

    names = list(METHODS) if methods is None else names_in(methods)
    family(family_)  # a mistake in its name is reported before one in the folder's
    folder = out or folder_of(family_, "crossvalidate-")
    require_writable(folder, ("crossvalidation.json", "crossvalidation.png"))
    changes: dict[str, object] = {"validate": validate, "jobs": jobs, "seed": seed}
    changes |= read_settings(settings or [])
    outcome = with_bars(family_, folder, read_folds(folds), names, changes)
    show(outcome, folder)
