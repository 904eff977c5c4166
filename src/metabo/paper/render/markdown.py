"""Tables as Markdown."""

from collections.abc import Sequence

from metabo.evaluation.table import Table


def markdown(table: Table) -> str:
    """The head and the rows of a table, with names set as code; the title is left to the page.

    Examples:
        >>> from metabo.evaluation.table import Column
        >>> columns = [Column("method", "name"), Column("t=1")]
        >>> print(markdown(Table.of("Regret", columns, [("ei", "0.5")])), end="")
        | method | t=1 |
        | --- | --- |
        | `ei` | 0.5 |
    """
    is_name = [column.kind == "name" for column in table.columns]
    rows = [
        [f"`{cell}`" if name and cell else cell for cell, name in zip(row, is_name, strict=True)]
        for row in table.texts
    ]
    return "".join(map(_line, (table.heads, ["---"] * len(table.columns), *rows)))


def _line(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return "|" + "|".join(f" {cell} " if cell else " " for cell in escaped) + "|\n"
