"""The rows of a table's CSV or Parquet files, with cells as text."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from metabo.errors import DataError, OptionError, shown
from metabo.inputs import entries, read_text, require_file, unreadable
from metabo.tasks.tabular.settings import Settings


@dataclass(frozen=True)
class Row:
    """One evaluation, and its place in a file."""

    place: str
    """File and line of the row, for messages."""
    cells: Mapping[str, str]
    """Text of each cell, by column."""


def table_files(folder: Path) -> list[Path]:
    """Return the CSV and Parquet files of a folder, sorted by name.

    Raises:
        DataError: If there are none.
    """
    found = entries(folder, "table folder")
    files = [path for path in found if path.suffix in (".csv", ".parquet")]
    if not files:
        raise DataError(
            f"A table folder must contain CSV or Parquet files, but `{shown(folder)}` has none. "
            "Give another folder."
        )
    return files


def read_rows(path: Path, settings: Settings) -> Iterator[Row]:
    """Yield the evaluations in a file, with their cells as text.

    Raises:
        DataError: If the file cannot be read, or a column or cell is missing.
    """
    records = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    for number, cells in records:
        place = f"`{shown(path)}`, {'line' if path.suffix == '.csv' else 'row'} {number},"
        if settings.dataset is not None and settings.dataset not in cells:
            raise DataError(
                f"{place} has no column `{shown(settings.dataset)}` with the data set. Name it "
                f'in `{shown(path.parent / "table.json")}`: {{"dataset": "COLUMN"}}.'
            )
        for name, cell in cells.items():
            if not cell and name not in (settings.value, *settings.ignore):
                raise DataError(
                    f"{place} has nothing in the column `{shown(name)}`. Write a word such as "
                    "`none`, or leave the row out."
                )
        yield Row(place, {settings.names: path.stem} | cells)


def _read_csv(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    text = read_text(path, "table").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"`{shown(path)}`, line {line}, has a NUL character. Save it as text.")
    reader = csv.reader(StringIO(text))
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_columns(header, path)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise DataError(
                    f"`{shown(path)}`, line {reader.line_num}, must have {len(header)} cells, "
                    f"but has {len(cells)}."
                )
            yield (
                reader.line_num,
                {n: c.strip() for n, c in zip(header, cells, strict=True)},
            )
    except csv.Error as error:
        raise DataError(
            f"`{shown(path)}`, line {reader.line_num}, is not CSV: {error}. Check the quotes."
        ) from None


def _check_columns(names: list[str], path: Path) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names, 1):
        if not name or name in seen:
            raise DataError(
                f"The columns of `{shown(path)}` must have different names, but column "
                f"{number} has {f'`{shown(name)}` again' if name else 'none'}. Rename it."
            )
        seen.add(name)


def _read_parquet(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise OptionError(
            f"Reading `{shown(path)}` needs pyarrow. Install it with "
            "`pip install metabo[parquet]`."
        ) from None
    require_file(path, "table")
    try:
        _check_columns(parquet.read_schema(path).names, path)
        records = parquet.read_table(path).to_pylist()
    except DataError:
        raise
    except (OSError, ArrowException, ValueError, TypeError, OverflowError) as error:
        raise unreadable(path, "table", shown(error)) from None
    for number, record in enumerate(records, 1):
        yield number, {k: "" if v is None else str(v) for k, v in record.items()}
