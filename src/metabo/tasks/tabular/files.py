"""Tables from a folder of CSV or Parquet files: one row per evaluation.

A row holds the data set, the parameters' values and the result. Without a column `dataset` each
file is a data set of its own, named as the file. The column of results is `value` unless the
folder's `table.json` says otherwise; all other columns are parameters: numbers make a `Float` or
`Int`, anything else a `Choice`. Ranges and scales are those of the data sets to learn from: what
is kept for testing has no say in them, and must lie inside. `table.json` may set, all of it
optional:

    {"value": "accuracy", "dataset": "study", "direction": "maximize", "budget": 20,
     "test": ["name", ...], "ignore": ["column", ...],
     "parameters": {"C": {"type": "float", "log": true, "low": 1e-3, "high": 1e3},
                    "kernel": {"type": "choice"}}}
"""

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import torch

from metabo.errors import DataError, MetaBOError, OptionError
from metabo.space import Choice, Float, Int, Parameter, Space, Value
from metabo.tasks.tabular.settings import Settings, read_settings
from metabo.tasks.tabular.table import Table

USUAL_BUDGET = 20


@dataclass(frozen=True)
class Row:
    """One evaluation, and where it was read, for messages."""

    place: str
    cells: Mapping[str, str]


def read_folder(folder: Path) -> Table:
    """The table of all CSV and Parquet files in a folder."""
    settings = read_settings(folder / "table.json")
    rows = [row for path in table_files(folder) for row in _rows(path, settings)]
    names = _parameter_names(rows, settings, folder)
    given = settings.parameters
    known_rows = [row for row in rows if row.cells[settings.names] not in settings.test] or rows
    space = Space({name: _kind(name, known_rows, given.get(name, {}), folder) for name in names})
    cells: dict[str, dict[tuple[Value, ...], tuple[float, str]]] = {}
    for row in rows:
        values = tuple(_parsed(row, name, p) for name, p in space.parameters.items())
        result = _result(row, settings.value)
        known = cells.setdefault(row.cells[settings.names], {})
        before = known.setdefault(values, (result, row.place))
        if before[0] != result:
            raise DataError(
                f"{before[1]} and {row.place} give the same configuration of data set "
                f"`{row.cells[settings.names]}` different results, {before[0]} and {result}. "
                "Keep one of them, or their mean."
            )
    datasets = tuple(sorted(cells))
    configurations = tuple(sorted({c for known in cells.values() for c in known}, key=_order))
    missing = (math.nan, "")
    measured = [[cells[d].get(c, missing)[0] for c in configurations] for d in datasets]
    return Table(
        space,
        datasets,
        configurations,
        torch.tensor(measured, dtype=torch.float64),
        settings.direction,
        settings.test,
        settings.budget or min(USUAL_BUDGET, len(configurations)),
        settings.together,
    )


def table_files(folder: Path) -> list[Path]:
    """The CSV and Parquet files of a folder, in order of their names."""
    if not folder.is_dir():
        raise DataError(f"`{folder}` is not a folder. Give one that holds CSV or Parquet files.")
    files = sorted(p for p in folder.iterdir() if p.suffix in (".csv", ".parquet"))
    if not files:
        raise DataError(f"There is no CSV or Parquet file in the folder `{folder}`.")
    return files


def _rows(path: Path, settings: Settings) -> Iterator[Row]:
    records = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    for number, cells in records:
        place = (
            f"`{path}`, line {number}," if path.suffix == ".csv" else f"`{path}`, row {number},"
        )
        if settings.dataset is not None and settings.dataset not in cells:
            raise DataError(
                f"{place} has no column `{settings.dataset}` with the data set. Name it in "
                f'`{path.parent / "table.json"}`: {{"dataset": "COLUMN"}}.'
            )
        for name, cell in cells.items():
            if not cell and name not in (settings.value, *settings.ignore):
                raise DataError(
                    f"{place} has nothing in the column `{name}`. Write a word such as `none`, or "
                    "leave the row out."
                )
        yield Row(place, {settings.names: path.stem} | cells)


def _read_csv(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"`{path}` cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"`{path}` must be text in UTF-8, but it is not: {error}.") from None
    reader = csv.reader(StringIO(text))
    try:
        header = [name.strip() for name in next(reader, [])]
        if len(set(header)) < len(header) or not all(header):
            raise DataError(f"The columns of `{path}` must have names, each another: {header}.")
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise DataError(
                    f"`{path}`, line {reader.line_num}, must have {len(header)} cells, but has "
                    f"{len(cells)}."
                )
            yield (
                reader.line_num,
                {n: c.strip() for n, c in zip(header, cells, strict=True)},
            )
    except csv.Error as error:
        raise DataError(f"`{path}`, line {reader.line_num}, is not CSV: {error}.") from None


def _read_parquet(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise OptionError(
            f"Reading `{path}` needs pyarrow. Install it with `pip install metabo[parquet]`."
        ) from None
    try:
        records = parquet.read_table(path).to_pylist()
    except (OSError, ArrowException) as error:
        raise DataError(f"`{path}` cannot be read: {error}.") from None
    for number, record in enumerate(records, 1):
        yield number, {k: "" if v is None else str(v) for k, v in record.items()}


def _parameter_names(rows: list[Row], settings: Settings, folder: Path) -> list[str]:
    if not rows:
        raise DataError(f"The files in the folder `{folder}` have no rows.")
    first = rows[0]
    if settings.value not in first.cells:
        raise DataError(
            f"{first.place} has no column `{settings.value}` with the result. Name it in "
            f'`{folder / "table.json"}`: {{"value": "COLUMN"}}.'
        )
    for name in settings.ignore:
        if name not in first.cells:
            raise DataError(f"`{folder / 'table.json'}` ignores `{name}`, which is no column.")
    apart = (settings.names, settings.value, *settings.ignore)
    names = [name for name in first.cells if name not in apart]
    if not names:
        raise DataError(f"The files in the folder `{folder}` have no column with a parameter.")
    for row in rows:
        if set(row.cells) != set(first.cells):
            odd = sorted(set(row.cells) ^ set(first.cells))[0]
            raise DataError(f"{row.place} and {first.place} differ in the column `{odd}`.")
    for name in settings.parameters:
        if name not in names:
            raise DataError(
                f"`{folder / 'table.json'}` names a parameter `{name}` that is no column."
            )
    return names


def _kind(
    name: str, rows: list[Row], given: Mapping[str, object], folder: Path
) -> Float | Int | Choice:
    """The parameter that a column holds, by what `table.json` says or what its cells are."""
    column = [row.cells[name] for row in rows]
    numbers = [_float(cell) for cell in column]
    usual = "choice" if None in numbers else "float"
    if usual == "float" and all(map(_is_whole, numbers)):
        usual = "int"
    kind = given.get("type", usual)
    if len(set(column)) == 1 or (usual != "choice" and len(set(numbers)) == 1):
        raise DataError(
            f"Parameter `{name}` has the value {column[0]} in every row to learn from, so there "
            f'is nothing to choose. Leave it out: {{"ignore": ["{name}"]}} in '
            f"`{folder / 'table.json'}`."
        )
    if kind == "choice":
        return Choice(tuple(sorted(set(column))))
    is_fit, rule = (_is_whole, "whole") if kind == "int" else (_is_finite, "finite")
    for row, number in zip(rows, numbers, strict=True):
        if not is_fit(number):
            raise DataError(
                f"{row.place} must have a {rule} number as parameter `{name}`, but has "
                f"`{row.cells[name]}`."
            )
    known = [number for number in numbers if number is not None]
    low, high = (
        _limit(given.get("low"), min(known)),
        _limit(given.get("high"), max(known)),
    )
    if kind == "int" and not (_is_whole(low) and _is_whole(high)):
        raise DataError(
            f"`low` and `high` of parameter `{name}` in `{folder / 'table.json'}` must be whole, "
            f"but are {low} and {high}."
        )
    log = bool(given.get("log", low > 0 and high / low >= 100))
    try:
        return Int(int(low), int(high), log) if kind == "int" else Float(low, high, log)
    except OptionError as error:
        raise DataError(f"Parameter `{name}` of the table in `{folder}`: {error}") from None


def _parsed(row: Row, name: str, parameter: Parameter) -> Value:
    cell = row.cells[name]
    try:
        return parameter.clean(cell if isinstance(parameter, Choice) else _float(cell))
    except MetaBOError:  # a row for testing, which has no say in what the parameter is
        raise DataError(
            f"{row.place} has `{cell}` as parameter `{name}`, but that is {parameter} by "
            "`table.json` and the data sets to learn from. Leave the row out, or set `low` and "
            "`high` there."
        ) from None


def _limit(given: object, seen: float) -> float:
    return float(given) if isinstance(given, int | float) else seen


def _result(row: Row, name: str) -> float:
    number = _float(row.cells[name])
    if number is None or not math.isfinite(number):
        raise DataError(
            f"{row.place} must have a finite number as `{name}`, but has `{row.cells[name]}`. "
            "Leave failed evaluations out."
        )
    return number


def _float(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _is_finite(number: float | None) -> bool:
    return number is not None and math.isfinite(number)


def _is_whole(number: float | None) -> bool:
    return number is not None and math.isfinite(number) and number == int(number)


def _order(configuration: tuple[Value, ...]) -> tuple[tuple[bool, object], ...]:
    return tuple((isinstance(value, str), value) for value in configuration)
