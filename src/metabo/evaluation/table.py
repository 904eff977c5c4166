"""A table of results, independent of where it is shown.

`metabo.cli.tables` prints it in a terminal, `metabo.paper.render` writes it as Markdown or HTML.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

NOTHING = "-"
"""Text of a cell whose number is not known."""
ColumnKind = Literal["name", "number", "text"]


@dataclass(frozen=True)
class Column:
    """The head of a column, and the kind of its cells."""

    head: str
    """Text above the column."""
    kind: ColumnKind = "number"
    """`name`: a word that can be typed, such as a method; leading columns of names tell the rows
    apart. `number`: a number, which no renderer may break. `text`: words, which may be wrapped."""


@dataclass(frozen=True)
class Cell:
    """A text, often a number, with an optional second text in brackets."""

    text: str
    """Main text of the cell."""
    beside: str = ""
    """Shown in brackets after the text: an interval, or the published number."""

    def __str__(self) -> str:
        return f"{self.text} ({self.beside})" if self.beside else self.text


Row = tuple[Cell | str, ...]
"""Cells side by side; a plain string is a cell with nothing beside it."""


@dataclass(frozen=True)
class Table:
    """A title, columns and rows of cells, with notes that explain them."""

    title: str
    """Title above the table."""
    columns: tuple[Column, ...]
    """Columns from left to right."""
    rows: tuple[tuple[Cell, ...], ...]
    """Rows from top to bottom, with one cell per column."""
    notes: tuple[str, ...] = ()
    """Sentences about the numbers, such as where those in brackets come from."""

    @classmethod
    def of(
        cls,
        title: str,
        columns: Iterable[Column],
        rows: Iterable[Row],
        notes: Iterable[str] = (),
    ) -> "Table":
        """Make a table from rows that may hold plain strings.

        Examples:
            >>> columns = [Column("method", "name"), Column("t=1")]
            >>> Table.of("Regret", columns, [("ei", "0.5")]).texts
            (('ei', '0.5'),)
        """
        cells = tuple(
            tuple(Cell(cell) if isinstance(cell, str) else cell for cell in row) for row in rows
        )
        return cls(title, tuple(columns), cells, tuple(notes))

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads of the columns."""
        return tuple(column.head for column in self.columns)

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The rows as plain text."""
        return tuple(tuple(map(str, row)) for row in self.rows)


def names(*heads: str) -> list[Column]:
    """Return columns of names."""
    return [Column(head, "name") for head in heads]


def numbers(heads: Iterable[str]) -> list[Column]:
    """Return columns of numbers."""
    return [Column(head) for head in heads]


def at_steps(steps: Iterable[int]) -> list[Column]:
    """Return columns of numbers, one for each step of a run."""
    return numbers(f"t={t}" for t in steps)
