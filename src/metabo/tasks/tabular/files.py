"""Tables from a folder of CSV or Parquet files: one row per evaluation.

A row holds the data set, the parameters' values and the result. Without a column `dataset` each
file is a data set of its own, named as the file. The column of results is `value` unless the
folder's `table.json` says otherwise; all other columns are parameters: numbers make a `Float` or
`Int`, anything else a `Choice`. `table.json` may set, all of it optional:

    {"value": "accuracy", "dataset": "study", "direction": "maximize", "budget": 20,
     "test": ["name", ...], "ignore": ["column", ...],
     "parameters": {"C": {"type": "float", "log": true}, "kernel": {"type": "choice"}}}
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from metabo.errors import DataError, OptionError
from metabo.space import Choice, Float, Int, Parameter, Space, Value
from metabo.tasks.tabular.table import Direction, Table

_KEYS = ("value", "dataset", "direction", "budget", "test", "ignore", "parameters", "provenance")
_TYPES = ("float", "int", "choice")


@dataclass(frozen=True)
class Row:
    """One evaluation, and where it was read, for messages."""

    place: str
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Settings:
    """What `table.json` says."""

    value: str = "value"
    dataset: str = "dataset"
    direction: Direction = "maximize"
    budget: int = 20
    test: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    parameters: Mapping[str, Mapping[str, object]] | None = None


def read_folder(folder: Path) -> Table:
    """The table of all CSV and Parquet files in a folder."""
    settings = _settings(folder / "table.json")
    rows = [row for path in table_files(folder) for row in _rows(path, settings)]
    names = _parameter_names(rows, settings, folder)
    columns = {name: [row.cells[name] for row in rows] for name in names}
    given = settings.parameters or {}
    kinds = {n: _kind(n, columns[n], given.get(n, {}), folder) for n in names}
    space = Space({name: kind for name, kind in kinds.items() if kind is not None})
    cells: dict[str, dict[tuple[Value, ...], tuple[float, str]]] = {}
    for row in rows:
        values = tuple(_parsed(row.cells[name], p) for name, p in space.parameters.items())
        result = _result(row, settings.value)
        known = cells.setdefault(row.cells[settings.dataset], {})
        before = known.setdefault(values, (result, row.place))
        if before[0] != result:
            raise DataError(
                f"{before[1]} and {row.place} give the same configuration of data set "
                f"`{row.cells[settings.dataset]}` different results, {before[0]} and {result}. "
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
        settings.budget,
    )


def table_files(folder: Path) -> list[Path]:
    """The CSV and Parquet files of a folder, in order of their names."""
    if not folder.is_dir():
        raise DataError(f"`{folder}` is not a folder. Give one that holds CSV or Parquet files.")
    files = sorted(p for p in folder.iterdir() if p.suffix in (".csv", ".parquet"))
    if not files:
        raise DataError(f"There is no CSV or Parquet file in the folder `{folder}`.")
    return files


def _settings(path: Path) -> Settings:
    if not path.exists():
        return Settings()
    try:
        record = json.loads(path.read_text())
    except ValueError as error:
        raise DataError(f"`{path}` must be JSON, but it is not: {error}.") from None
    if not isinstance(record, dict) or any(key not in _KEYS for key in record):
        raise DataError(f"`{path}` must be an object with keys among {', '.join(_KEYS)}.")
    record.pop("provenance", None)
    if record.get("direction", "maximize") not in ("maximize", "minimize"):
        raise DataError(
            f"`direction` in `{path}` must be `maximize` or `minimize`, but is "
            f"`{record['direction']}`."
        )
    budget = record.get("budget", 20)
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise DataError(f"`budget` in `{path}` must be a whole number of at least 1.")
    for key in ("test", "ignore"):
        if not isinstance(record.get(key, []), list):
            raise DataError(f"`{key}` in `{path}` must be a list of names.")
        record[key] = tuple(record.get(key, []))
    return Settings(**record)


def _rows(path: Path, settings: Settings) -> Iterator[Row]:
    records = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    for number, cells in records:
        place = (
            f"`{path}`, line {number}," if path.suffix == ".csv" else f"`{path}`, row {number},"
        )
        yield Row(place, {settings.dataset: path.stem} | cells)


def _read_csv(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
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


def _read_parquet(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise OptionError(
            f"Reading `{path}` needs pyarrow. Install it with `pip install metabo[parquet]`."
        ) from None
    for number, record in enumerate(parquet.read_table(path).to_pylist(), 1):
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
    apart = (settings.dataset, settings.value, *settings.ignore)
    names = [name for name in first.cells if name not in apart]
    if not names:
        raise DataError(f"The files in the folder `{folder}` have no column with a parameter.")
    for row in rows:
        if set(row.cells) != set(first.cells):
            odd = sorted(set(row.cells) ^ set(first.cells))[0]
            raise DataError(f"{row.place} and {first.place} differ in the column `{odd}`.")
    for name in settings.parameters or {}:
        if name not in names:
            raise DataError(
                f"`{folder / 'table.json'}` names a parameter `{name}` that is no column."
            )
    return names


def _kind(name: str, column: list[str], given: Mapping[str, object], folder: Path) -> Parameter:
    """The parameter that a column holds, by what `table.json` says or what its cells are."""
    numbers = [_float(cell) for cell in column]
    usual = "choice" if any(n is None for n in numbers) else "float"
    if usual == "float" and all(n == int(n) for n in numbers if n is not None):
        usual = "int"
    kind = given.get("type", usual)
    if kind not in _TYPES:
        raise DataError(
            f"The type of parameter `{name}` in `{folder / 'table.json'}` must be one of "
            f"{', '.join(_TYPES)}, but is `{kind}`."
        )
    if len(set(column)) == 1 or (usual != "choice" and len(set(numbers)) == 1):
        raise DataError(
            f"Parameter `{name}` has the value {column[0]} in every row, so there is nothing to "
            f'choose. Leave it out: {{"ignore": ["{name}"]}} in `{folder / "table.json"}`.'
        )
    if kind == "choice":
        return Choice(tuple(sorted(set(column))))
    known = [n for n in numbers if n is not None]
    if len(known) < len(numbers) or not all(map(math.isfinite, known)):
        odd = next(c for c, n in zip(column, numbers, strict=True) if n is None or n - n != 0)
        raise DataError(
            f"Parameter `{name}` must be a finite number in every row, but is `{odd}`."
        )
    low, high = min(known), max(known)
    log = bool(given.get("log", low > 0 and high / low >= 100))
    return Int(int(low), int(high), log) if kind == "int" else Float(low, high, log)


def _parsed(cell: str, parameter: Parameter) -> Value:
    if isinstance(parameter, Choice):
        return cell
    return int(float(cell)) if isinstance(parameter, Int) else float(cell)


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


def _order(configuration: tuple[Value, ...]) -> tuple[tuple[bool, object], ...]:
    return tuple((isinstance(value, str), value) for value in configuration)
