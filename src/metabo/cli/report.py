"""`metabo report`."""

from pathlib import Path
from typing import Annotated

import typer

from metabo.choices import ScaleName
from metabo.cli.parameters import Device
from metabo.paper import RESULTS, STUDY_RUNS

PAGE_FOLDER = Path("runs/report")


def report_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT ...]",
            help="Experiments to report, such as figure-2; `metabo list` shows all.",
            show_default="all",
        ),
    ] = None,
    size: Annotated[
        ScaleName,
        typer.Option("--scale", help="How much to run: a quick check or the whole experiment."),
    ] = "full",
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Compute the results that are missing.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Compute all results again. Safe to interrupt: run it again to resume.",
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder of the stored results.")
    ] = RESULTS,
    device: Device = "cpu",
    artifacts: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Folder of the training runs that studies evaluate.",
        ),
    ] = STUDY_RUNS,
    page: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for report.html and its pictures.")
    ] = PAGE_FOLDER,
) -> None:
    """Show stored results beside the paper's, and write them as a page.

    Computes nothing unless --rerun or --force is given.
    """
    from metabo.cli.reporting import Reporting
    from metabo.paper.catalogue import EXPERIMENTS, experiment

    chosen = [experiment(name) for name in names or EXPERIMENTS]
    reporting = Reporting(size, out, device, artifacts)
    n_failed = reporting.report(chosen, page, is_rerun=rerun, is_forced=force)
    raise typer.Exit(1 if n_failed else 0)
