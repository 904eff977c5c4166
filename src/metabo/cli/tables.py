"""Tables in a terminal.

No number is ever broken. If the columns do not fit side by side, the remaining ones go into a
second table below with the same rows. A pipe counts as 80 characters wide.
"""

import textwrap
from dataclasses import dataclass

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from metabo.cli.console import console
from metabo.evaluation.table import Cell, Column, Table

_TEXT_WIDTH = 16
"""Least width of a column of words that does not fit."""
_GAP = 2
"""Characters between two columns."""


def print_table(table: Table, to: Console = console) -> None:
    """Print a table with its title above and its notes below."""
    to.print(laid_out(table, to.width))


def laid_out(table: Table, width: int) -> Group:
    """Lay out a table in at most this many characters, in several parts if necessary."""
    columns = [
        _Laid.of(column, [row[i] for row in table.rows]) for i, column in enumerate(table.columns)
    ]
    if _total(columns) > width:
        columns = [column.narrowed() for column in columns]
    parts: list[RenderableType] = [Text(table.title, "bold")] if table.title else []
    parts += [_drawn(part, width) for part in _parts(columns, width)]
    parts += [Text(note, "italic") for note in table.notes]
    return Group(*parts)


@dataclass(frozen=True)
class _Laid:
    """A column as it will be printed; a newline in a cell starts its next line."""

    column: Column
    head: str
    cells: tuple[str, ...]
    beside: tuple[str, ...]
    width: int

    @classmethod
    def of(cls, column: Column, cells: list[Cell]) -> "_Laid":
        texts = tuple(map(str, cells))
        beside = tuple(f"{cell.text}\n({cell.beside})" if cell.beside else "" for cell in cells)
        return cls(column, column.head, texts, beside, _width([column.head, *texts]))

    @property
    def is_text(self) -> bool:
        return self.column.kind == "text"

    @property
    def is_name(self) -> bool:
        return self.column.kind == "name"

    def narrowed(self) -> "_Laid":
        """Wrap the head, and put the text in brackets on its own line."""
        if self.is_text:
            width = min(self.width, _TEXT_WIDTH)
            return _Laid(self.column, self.head, self.cells, self.beside, width)
        cells = tuple(b or c for b, c in zip(self.beside, self.cells, strict=True))
        widest = max(_width(cells), max(map(len, self.head.split()), default=0))
        head = textwrap.fill(self.head, max(1, widest), break_on_hyphens=False)
        return _Laid(self.column, head, cells, self.beside, _width([head, *cells]))

    def cut(self, width: int) -> "_Laid":
        """Limit the width."""
        return _Laid(self.column, self.head, self.cells, self.beside, min(self.width, width))


def _parts(columns: list[_Laid], width: int) -> list[list[_Laid]]:
    """Divide columns into parts that fit; the leading columns of names are in every part."""
    n_keys = max(1, next((i for i, c in enumerate(columns) if not c.is_name), len(columns)))
    keys, others = columns[:n_keys], columns[n_keys:]
    # Names are folded only where a number would not fit beside them.
    room = width - max((c.width for c in others), default=0) - _GAP * len(keys) - 1
    if sum(key.width for key in keys) > room:
        keys = [key.cut(max(4, room // len(keys))) for key in keys]
    parts: list[list[_Laid]] = [list(keys)]
    for column in others:
        if len(parts[-1]) > n_keys and _total([*parts[-1], column]) > width:
            parts.append(list(keys))
        parts[-1].append(column)
    return parts


def _drawn(columns: list[_Laid], width: int) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    # A cell wider than the terminal has to be folded; Rich would cut it off otherwise.
    is_too_wide = _total(columns) > width
    for column in columns:
        is_cut = column.width < _width([column.head, *column.cells])
        table.add_column(
            Text(column.head),
            overflow="fold",
            no_wrap=not (column.is_text or is_cut or is_too_wide),
            max_width=None if column.is_text else column.width,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def _total(columns: list[_Laid]) -> int:
    return 1 + sum(column.width + _GAP for column in columns)


def _width(texts: list[str] | tuple[str, ...]) -> int:
    return max((Text(line).cell_len for text in texts for line in text.split("\n")), default=0)
