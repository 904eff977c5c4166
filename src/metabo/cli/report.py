"""`metabo report`."""

from pathlib import Path
from typing import Annotated

import typer

from metabo.cli.console import say
from metabo.cli.display import run_with_bars
from metabo.cli.tables import print_table
from metabo.paper.catalogue import EXPERIMENTS, experiment, scale
from metabo.paper.job import STUDIES
from metabo.paper.kinds import kind_of
from metabo.paper.page import write_page
from metabo.paper.rerun import begin, end, outdated
from metabo.paper.results import Stored, read
from metabo.paper.sections import RESULTS, report_command
from metabo.store import is_writable, require_writable, write_all

PAGE_FOLDER = Path("runs/report")


def report_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT ...]",
            help="Names of experiments, such as figure-2.",
            show_default="all",
        ),
    ] = None,
    scale_: Annotated[
        str, typer.Option("--scale", help="Size of the experiments: smoke or full.")
    ] = "full",
    rerun: Annotated[bool, typer.Option("--rerun", help="Run missing results.")] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Run all results again; if interrupted, the same command resumes."
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder that results are read from and stored in.")
    ] = RESULTS,
    device: Annotated[str, typer.Option(help="Device to run on: cpu or cuda.")] = "cpu",
    artifacts: Annotated[
        Path, typer.Option(help="Folder for the training runs of studies.")
    ] = STUDIES,
    page: Annotated[
        Path, typer.Option(help="Folder for report.html and its pictures.")
    ] = PAGE_FOLDER,
) -> None:
    """Show stored results beside the paper's and write a page; --rerun runs what is missing."""
    chosen, size = [experiment(name) for name in names or EXPERIMENTS], scale(scale_)
    units = [unit for one in chosen for unit in one.units(size)]
    if rerun or force:
        require_writable(out, ())
    if force:
        begin(units, out)
    shown, failed = [], 0
    for one in chosen:
        stored = read(one, size, out)
        left = outdated(stored.units, out) if force else stored.missing
        if force or (rerun and left):
            failed += run_with_bars(left, out, device=device, artifacts=artifacts)
            stored = read(one, size, out)
        elif rerun:
            command = report_command([one.name], size, out, "--force")
            say(f"{one.name}: nothing is missing in {out}. Run all of it again with `{command}`.")
        _show(stored, out, draw=rerun or force)
        shown.append(stored)
    if force:
        end(units, out)
    _write_page(shown, out, page)
    raise typer.Exit(1 if failed else 0)


def _write_page(shown: list[Stored], out: Path, page: Path) -> None:
    """Write the page unless nothing is stored, and say what is missing."""
    if not any(stored.results for stored in shown):
        _say_what_is_missing(shown, out)
        return
    for stored in shown:
        if not stored.results:
            _say_what_is_missing([stored], out)
    if is_writable(page):
        say(f"Wrote {write_page(shown, folder=page, results=out)}")
    else:
        say(f"Cannot write the report to {page}. Choose another folder with `--page`.")


def _show(stored: Stored, out: Path, *, draw: bool) -> None:
    """Print an experiment's tables; draw its picture if told to, or if the picture is missing."""
    if not stored.results:
        return
    if stored.missing:
        _say_what_is_missing([stored], out)
    name, kind = stored.experiment.name, kind_of(stored.experiment.kind)
    for table in kind.tables(stored):
        print_table(table)
    picture = out / name / stored.scale / f"{name}.png"
    if draw or (not picture.exists() and is_writable(picture.parent)):
        write_all(picture.parent, {picture.name: kind.figure(stored).savefig})
        say(f"Wrote {picture}")


def _say_what_is_missing(shown: list[Stored], out: Path) -> None:
    """Say how many results are missing and how to get them."""
    names = [stored.experiment.name for stored in shown]
    which = f"{names[0]}: " if len(names) == 1 else ""
    n_units, n_missing = (
        sum(map(len, lists))
        for lists in ([stored.units for stored in shown], [stored.missing for stored in shown])
    )
    given = [] if len(names) == len(EXPERIMENTS) else names
    command = report_command(given, shown[0].scale, out, "--rerun")
    where = (
        "A clone of metabo's repository has results of the full scale in its folder `results`: "
        "call `metabo report` there, or name that folder with `--out`. "
        if n_missing == n_units
        else ""
    )
    say(
        f"{which}{n_missing} of {n_units} results are missing in {out}. {where}Run them with "
        f"`{command}`."
    )
