"""Progress bars."""

from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from metabo.paper.catalogue import Unit
from metabo.paper.job import STUDIES
from metabo.paper.runner import run


def progress_bars(text: str = "steps") -> Progress:
    """Make progress bars on standard error, with a text after each count."""
    return Progress(
        TextColumn("{task.description:>12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(text),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def run_with_bars(
    units: list[Unit], out: Path, *, device: str = "cpu", artifacts: Path = STUDIES
) -> int:
    """Run units under two bars, one for all units and one for the steps of the current unit.

    Returns:
        The number of units that cannot be run; each is named on standard error.
    """
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
