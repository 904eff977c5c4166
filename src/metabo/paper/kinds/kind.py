"""`Kind`: how experiments of a kind are run, tabulated and drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from metabo.evaluation.table import Table
from metabo.paper.job import Job
from metabo.paper.results import Record, Stored


@runtime_checkable
class Picture(Protocol):
    """The interface of a matplotlib figure, because the core package works without matplotlib."""

    def savefig(self, fname: Path, /) -> None:
        """Write the picture, as PNG or SVG by the path's suffix."""


@dataclass(frozen=True)
class Kind:
    """A kind of experiment; to add one, write a file that makes one and list it in `KINDS`."""

    name: str
    """Name that experiments give as their `kind`."""
    run: Callable[[Job], Record]
    """Runs a unit and returns the result to store."""
    tables: Callable[[Stored], list[Table]]
    """Makes the tables that the terminal shows; missing results are dashes."""
    figure: Callable[[Stored], Picture]
    """Draws what is stored, which is at least one result; imports matplotlib itself."""
    page_tables: Callable[[Stored], list[Table]] | None = None
    """Makes the tables of the page, where there is more room; the same as `tables` if None."""
    is_timed: bool = False
    """Whether it measures time, which is done on the CPU with one thread."""
    per: str = ""
    """What the number of tasks refers to, such as `in each cell`; the whole unit if empty."""
