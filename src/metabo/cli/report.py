"""`metabo report`."""

from functools import partial
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from rich.text import Text

from metabo.cli.console import console, say
from metabo.cli.display import empty_table, run_with_bars
from metabo.paper.catalogue import (
    EXPERIMENTS,
    Experiment,
    ScaleName,
    experiment,
    scale,
)
from metabo.paper.page import write_page
from metabo.paper.report import sheets
from metabo.paper.rerun import begin, end, outdated
from metabo.paper.runner import missing, stored
from metabo.paper.runs.job import STUDIES
from metabo.store import is_writable, require_writable, write_all

RESULTS = Path("results")
PAGE_FOLDER = Path("runs/report")


def report_(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EXPERIMENT ...]", help="Such as figure-2.", show_default="all"),
    ] = None,
    scale_: Annotated[str, typer.Option("--scale", help="smoke or full.")] = "full",
    rerun: Annotated[bool, typer.Option("--rerun", help="Run what is missing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run everything again; once stopped, it goes on.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = RESULTS,
    device: Annotated[str, typer.Option(help="Where to run: cpu or cuda.")] = "cpu",
    artifacts: Annotated[
        Path, typer.Option(help="Folder of the training runs of studies.")
    ] = STUDIES,
    page: Annotated[
        Path, typer.Option(help="Folder for report.html and its pictures.")
    ] = PAGE_FOLDER,
) -> None:
    """Show stored results beside the paper's and write them as a page; --rerun makes them."""
    chosen, size = [experiment(name) for name in names or EXPERIMENTS], scale(scale_)
    units = {one.name: list(one.units(size)) for one in chosen}
    if rerun or force:
        require_writable(out, ())
    if force:
        begin(chain(*units.values()), out)
    failed = 0
    for one in chosen:
        left = outdated(units[one.name], out) if force else missing(units[one.name], out)
        if force or (rerun and left):
            failed += run_with_bars(left, out, device=device, artifacts=artifacts)
        elif rerun:
            command = _command(one, size, out, "force")
            say(f"{one.name}: nothing is missing in {out}. Run all of it again with {command}.")
        _show(one, size, out, draw=rerun or force)
    if force:
        end(chain(*units.values()), out)
    if is_writable(page):
        say(f"Wrote {write_page(chosen, size, results=out, folder=page)}")
    else:
        say(f"No page was written: the folder {page} cannot be. Choose another with `--page`.")
    raise typer.Exit(1 if failed else 0)


def _show(one: Experiment, size: ScaleName, out: Path, *, draw: bool) -> None:
    """Print an experiment's tables; draw its picture if told to, or where it is missing."""
    from metabo.paper.figures import plot_experiment  # matplotlib is slow to import

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


def _command(one: Experiment, size: ScaleName, out: Path, option: str) -> str:
    where = "" if out == RESULTS else f" --out {quote(str(out))}"
    return f"`metabo report {one.name} --scale {size}{where} --{option}`"
