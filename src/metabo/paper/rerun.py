"""Run stored units again, so that a stopped run goes on where it stopped.

A marker beside the results says when it began: what was stored before then is outdated. It goes
when all is done.
"""

from collections.abc import Iterable
from pathlib import Path

from metabo.paper.catalogue import Unit
from metabo.paper.runner import missing
from metabo.store import write_all

MARKER = ".again"


def begin(units: Iterable[Unit], folder: Path) -> None:
    """Mark that all of these are to be run again, unless that has begun already."""
    for where in _folders(units, folder):
        if not (where / MARKER).exists():
            write_all(where, {MARKER: lambda path: path.touch()})


def outdated(units: list[Unit], folder: Path) -> list[Unit]:
    """The units that are missing, or stored before the marker."""
    lacking = set(missing(units, folder))
    return [unit for unit in units if unit in lacking or _is_older(folder / unit.path)]


def end(units: Iterable[Unit], folder: Path) -> None:
    """Take the markers away."""
    for where in _folders(units, folder):
        (where / MARKER).unlink(missing_ok=True)


def _folders(units: Iterable[Unit], folder: Path) -> set[Path]:
    return {(folder / unit.path).parent for unit in units}


def _is_older(path: Path) -> bool:
    marker = path.parent / MARKER
    return marker.exists() and path.stat().st_mtime_ns < marker.stat().st_mtime_ns
