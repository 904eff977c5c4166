"""Run stored units again, so that an interrupted run can be resumed.

A marker file beside the results says when the run began: results stored before then are outdated.
The marker is removed when all units are done.
"""

from collections.abc import Iterable
from pathlib import Path

from metabo.paper.catalogue import Unit
from metabo.paper.results import missing
from metabo.store import write_all

MARKER = ".again"


def begin(units: Iterable[Unit], folder: Path) -> None:
    """Mark all of these units to be run again, unless that has begun already."""
    for where in _folders(units, folder):
        if not (where / MARKER).exists():
            write_all(where, {MARKER: lambda path: path.touch()})


def outdated(units: list[Unit], folder: Path) -> list[Unit]:
    """The units that are missing, or were stored before the marker."""
    lacking = set(missing(units, folder))
    return [unit for unit in units if unit in lacking or _is_older(folder / unit.path)]


def end(units: Iterable[Unit], folder: Path) -> None:
    """Remove the markers."""
    for where in _folders(units, folder):
        (where / MARKER).unlink(missing_ok=True)


def _folders(units: Iterable[Unit], folder: Path) -> set[Path]:
    return {(folder / unit.path).parent for unit in units}


def _is_older(path: Path) -> bool:
    marker = path.parent / MARKER
    return marker.exists() and path.stat().st_mtime_ns < marker.stat().st_mtime_ns
