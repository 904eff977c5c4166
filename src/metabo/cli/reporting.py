"""The work of `metabo report`: run missing units, print tables, write pictures and the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from metabo.choices import ScaleName
from metabo.cli.console import say
from metabo.cli.progress import progress_bars
from metabo.cli.tables import print_table
from metabo.paper import catalogue
from metabo.paper.catalogue import Experiment, Unit
from metabo.paper.kinds import kind_of
from metabo.paper.page import write_page
from metabo.paper.rerun import begin, end, outdated
from metabo.paper.results import Stored, read
from metabo.paper.runner import run
from metabo.paper.sections import report_command
from metabo.store import is_writable, require_writable, write_all


@dataclass(frozen=True)
class Reporting:
    """The settings of a report: where results are stored, and how missing ones are computed."""

    scale: ScaleName
    """Scale of the experiments."""
    results: Path
    """Folder that results are read from and stored in."""
    device: str
    """Device that missing results are computed on."""
    artifacts: Path
    """Folder of the training runs that studies evaluate."""

    def report(
        self, chosen: Sequence[Experiment], page: Path, *, is_rerun: bool, is_forced: bool
    ) -> int:
        """Show experiments one by one, then write the page.

        Returns:
            The number of results that could not be computed.
        """
        units = [unit for one in chosen for unit in one.units(self.scale)]
        if is_rerun or is_forced:
            require_writable(self.results, ())
        if is_forced:
            begin(units, self.results)
        shown, n_failed = [], 0
        for one in chosen:
            stored = read(one, self.scale, self.results)
            left = outdated(stored.units, self.results) if is_forced else stored.missing
            if is_forced or (is_rerun and left):
                n_failed += self._run(left)
                stored = read(one, self.scale, self.results)
            elif is_rerun:
                command = report_command([one.name], self.scale, self.results, "--force")
                say(
                    f"{one.name}: nothing is missing in {self.results}. Run all of it again with "
                    f"`{command}`."
                )
            self._show(stored, is_drawn=is_rerun or is_forced)
            shown.append(stored)
        if is_forced:
            end(units, self.results)
        self._write_page(shown, page)
        return n_failed

    def _run(self, units: list[Unit]) -> int:
        """Run units under two bars: all units, and the steps of the current one."""
        n_failed = 0
        with progress_bars("{task.fields[what]}") as progress:
            whole = progress.add_task("results", total=len(units), what="")
            steps = progress.add_task("steps", total=None, what="")
            current: Unit | None = None

            def on_unit(unit: Unit, done: int, total: int) -> None:
                nonlocal current
                if unit != current:
                    progress.reset(steps)  # a bar that was once full shows no time any more
                    current = unit
                what = f"{unit.family} {unit.label}"
                progress.update(steps, completed=done, total=total, what=what)
                progress.update(whole, completed=units.index(unit))

            failures = run(
                units, self.results, on_unit, device=self.device, artifacts=self.artifacts
            )
            for unit, reason in failures:
                n_failed += 1
                progress.console.print(
                    Text(f"{unit.experiment}, {unit.family}, {unit.label} cannot run: {reason}")
                )
            progress.update(whole, completed=len(units))
        return n_failed

    def _show(self, stored: Stored, *, is_drawn: bool) -> None:
        """Print an experiment's tables, and draw its picture if `is_drawn` or if it is missing."""
        if not stored.results:
            return
        if stored.missing:
            self._say_what_is_missing([stored])
        name, kind = stored.experiment.name, kind_of(stored.experiment.kind)
        for table in kind.tables(stored):
            print_table(table)
        picture = self.results / name / stored.scale / f"{name}.png"
        if is_drawn or (not picture.exists() and is_writable(picture.parent)):
            write_all(picture.parent, {picture.name: kind.figure(stored).savefig})
            say(f"Wrote {picture}")

    def _write_page(self, shown: list[Stored], page: Path) -> None:
        """Write the page unless nothing is stored, and say what is missing."""
        if not any(stored.results for stored in shown):
            self._say_what_is_missing(shown)
            return
        for stored in shown:
            if not stored.results:
                self._say_what_is_missing([stored])
        if is_writable(page):
            say(f"Wrote {write_page(shown, folder=page, results=self.results)}")
        else:
            say(f"Cannot write the report to {page}. Choose another folder with `--page`.")

    def _say_what_is_missing(self, shown: list[Stored]) -> None:
        """Say how many results are missing and how to get them."""
        names = [stored.experiment.name for stored in shown]
        which = f"{names[0]}: " if len(names) == 1 else ""
        n_units = sum(len(stored.units) for stored in shown)
        n_missing = sum(len(stored.missing) for stored in shown)
        given = [] if len(names) == len(catalogue.EXPERIMENTS) else names
        command = report_command(given, self.scale, self.results, "--rerun")
        where = (
            "A clone of metabo's repository has results of the full scale in its folder "
            "`results`: call `metabo report` there, or name that folder with `--out`. "
            if n_missing == n_units
            else ""
        )
        say(
            f"{which}{n_missing} of {n_units} results are missing in {self.results}. {where}Run "
            f"them with `{command}`."
        )
