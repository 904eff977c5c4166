"""`metabo report`."""

from functools import partial
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from metabo.choices import ScaleName
from metabo.cli.parameters import Device

if TYPE_CHECKING:
    from metabo.paper.catalogue import Experiment

RESULTS = Path("results")
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
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of the training runs that studies evaluate.",
            show_default="runs/studies",
        ),
    ] = None,
    page: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for report.html and its pictures.")
    ] = PAGE_FOLDER,
) -> None:
    """Show stored results beside the paper's, and write them as a page.

    Computes nothing unless told to with --rerun or --force.
    """
    from metabo.cli.console import say
    from metabo.cli.display import run_with_bars
    from metabo.paper.catalogue import EXPERIMENTS, experiment
    from metabo.paper.page import write_page
    from metabo.paper.rerun import begin, end, outdated
    from metabo.paper.runner import missing
    from metabo.paper.runs.job import STUDIES
    from metabo.store import is_writable, require_writable

    chosen = [experiment(name) for name in names or EXPERIMENTS]
    units = {one.name: list(one.units(size)) for one in chosen}
    if rerun or force:
        require_writable(out, ())
    if force:
        begin(chain(*units.values()), out)
    failed = 0
    for one in chosen:
        left = outdated(units[one.name], out) if force else missing(units[one.name], out)
        if force or (rerun and left):
            failed += run_with_bars(left, out, device=device, artifacts=artifacts or STUDIES)
        elif rerun:
            command = _command(one, size, out, "force")
            say(f"{one.name}: nothing is missing in {out}. Run all of it again with {command}.")
        _show(one, size, out, draw=rerun or force)
    if force:
        end(chain(*units.values()), out)
    if is_writable(page):
        say(f"Wrote {write_page(chosen, size, results=out, folder=page)}")
    else:
        say(f"Cannot write the report to {page}. Choose another folder with `--page`.")
    raise typer.Exit(1 if failed else 0)


def _show(one: "Experiment", size: ScaleName, out: Path, *, draw: bool) -> None:
    """Print an experiment's tables; draw its picture if told to, or where it is missing."""
    from rich.text import Text

    from metabo.cli.console import console, say
    from metabo.cli.display import empty_table
    from metabo.paper.figures import plot_experiment
    from metabo.paper.report import sheets
    from metabo.paper.runner import stored
    from metabo.store import is_writable, write_all

    units = list(one.units(size))
    records = {(u.family, u.label): stored(u, out) for u in units}
    results = {key: record for key, record in records.items() if record is not None}
    if len(results) < len(units):
        left = len(units) - len(results)
        say(
            f"{one.name}: {left} of {len(units)} results are missing in {out}. Run them with "
            f"{_command(one, size, out, 'rerun')}."
        )
    if not results:
        return
    for sheet in sheets(one, size, results):
        table = empty_table(sheet.title, *sheet.columns)
        for row in sheet.rows:
            table.add_row(*map(Text, row))
        console.print(table)
    picture = out / one.name / size / f"{one.name}.png"
    if draw or (not picture.exists() and is_writable(picture.parent)):
        write_all(picture.parent, {picture.name: partial(plot_experiment, one, results)})
        say(f"Wrote {picture}")


def _command(one: "Experiment", size: ScaleName, out: Path, option: str) -> str:
    where = "" if out == RESULTS else f" --out {quote(str(out))}"
    return f"`metabo report {one.name} --scale {size}{where} --{option}`"
