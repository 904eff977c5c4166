"""Tables from a folder of CSV or Parquet files: one row per evaluation.

A row contains the data set, the values of the parameters and the result. Without a column
`dataset`, each file is a separate data set with the file's name. The column of results is `value`
unless the folder's `table.json` names another; all other columns are parameters: numbers make a
`Float` or `Int`, anything else a `Choice`. Ranges and scales are determined by the data sets to
learn from; test data sets do not affect them, and must lie inside. All fields of `table.json` are
optional:

    {"value": "accuracy", "dataset": "study", "direction": "maximize", "budget": 20,
     "test": ["name", ...], "ignore": ["column", ...],
     "parameters": {"C": {"type": "float", "log": true, "low": 1e-3, "high": 1e3},
                    "kernel": {"type": "choice"}}}
"""

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from metabo.errors import DataError, MetaBOError, OptionError, brief, listed, shown
from metabo.rules import is_number
from metabo.space import MOST_COORDINATES, Choice, Float, Int, Parameter, Space, Value
from metabo.space.parameter import MOST
from metabo.tasks.tabular.rows import Row, read_rows, table_files
from metabo.tasks.tabular.settings import Settings, read_settings
from metabo.tasks.tabular.table import Table

USUAL_BUDGET = 20
"""Number of evaluations in an episode, unless `table.json` sets it."""
_LARGEST_RESULT = 1e100
"""Largest absolute result: the variance of larger ones could overflow."""
_NEARLY_A_NUMBER = re.compile(r"[+-]?(\d[\d_]*_[\d_.e+-]*|0[xob][0-9a-f]+)", re.IGNORECASE)
"""Spellings of numbers that only Python accepts; a column with them must be declared as text."""


def read_folder(folder: Path) -> Table:
    """Read the table of all CSV and Parquet files in a folder.

    Raises:
        DataError: If a file cannot be read, or its content is not valid.
    """
    settings = read_settings(folder / "table.json")
    rows = [row for path in table_files(folder) for row in read_rows(path, settings)]
    names = _parameter_names(rows, settings, folder)
    given = settings.parameters
    known_rows = [row for row in rows if row.cells[settings.names] not in settings.test] or rows
    kinds = {name: _kind(name, known_rows, given.get(name, {}), folder) for name in names}
    try:
        space = Space(kinds)
    except OptionError as error:
        raise DataError(f"The table in `{shown(folder)}`: {error}") from None
    cells: dict[str, dict[tuple[Value, ...], tuple[float, str]]] = {}
    for row in rows:
        values = tuple(_parsed(row, name, p) for name, p in space.parameters.items())
        result = _result(row, settings.value)
        known = cells.setdefault(row.cells[settings.names], {})
        before = known.setdefault(values, (result, row.place))
        if before[0] != result:
            raise DataError(
                f"{before[1]} and {row.place} give the same configuration of data set "
                f"`{shown(row.cells[settings.names])}` different results, {before[0]} and "
                f"{result}. Keep one of them, or their mean."
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


def _parameter_names(rows: list[Row], settings: Settings, folder: Path) -> list[str]:
    if not rows:
        raise DataError(
            f"A table must have rows, but the files in `{shown(folder)}` have none. Add some."
        )
    first = rows[0]
    if settings.value not in first.cells:
        raise DataError(
            f"{first.place} has no column `{shown(settings.value)}` with the result. Name it in "
            f'`{shown(folder / "table.json")}`: {{"value": "COLUMN"}}.'
        )
    for name in settings.ignore:
        if name not in first.cells:
            raise DataError(
                f"`{shown(folder / 'table.json')}` ignores `{shown(name)}`, which is not a "
                f"column. Choose from: {listed(first.cells)}."
            )
    apart = (settings.names, settings.value, *settings.ignore)
    names = [name for name in first.cells if name not in apart]
    if not 1 <= len(names) <= MOST_COORDINATES:
        raise DataError(
            f"A table must have 1 to {MOST_COORDINATES} columns with parameters, but the files in "
            f"`{shown(folder)}` have {len(names) or 'none'}. Add one, or leave some out."
        )
    for row in rows:
        if set(row.cells) != set(first.cells):
            odd = sorted(set(row.cells) ^ set(first.cells))[0]
            raise DataError(
                f"{row.place} and {first.place} differ in the column `{shown(odd)}`. "
                "Give all files the same columns."
            )
    for name in settings.parameters:
        if name not in names:
            raise DataError(
                f"`{shown(folder / 'table.json')}` names a parameter `{shown(name)}` that is not "
                f"a column. Choose from: {listed(names)}."
            )
    return names


def _kind(name: str, rows: list[Row], given: Mapping[str, object], folder: Path) -> Parameter:
    """Return the parameter of a column, according to `table.json` or else to its cells."""
    column = [row.cells[name] for row in rows]
    numbers = [_float(cell) for cell in column]
    if "type" not in given:
        _require_plain_numbers(name, rows, folder)
    usual = "choice" if None in numbers else "float"
    if usual == "float" and all(map(_is_whole, numbers)):
        usual = "int"
    kind = given.get("type", usual)
    if len(set(column)) == 1 or (usual != "choice" and len(set(numbers)) == 1):
        raise DataError(
            f"Parameter `{shown(name)}` has the value {shown(column[0])} in every row to learn "
            f'from, so there is nothing to choose. Leave it out: {{"ignore": ["{shown(name)}"]}} '
            f"in `{shown(folder / 'table.json')}`."
        )
    if kind == "choice":
        return _made(lambda: Choice(tuple(sorted(set(column)))), name, folder)
    is_fit, rule = (_is_whole, "whole") if kind == "int" else (is_number, "finite")
    for row, number in zip(rows, numbers, strict=True):
        if not is_fit(number):
            raise DataError(
                f"{row.place} must have a {rule} number as parameter `{shown(name)}`, but has "
                f"`{shown(row.cells[name])}`."
            )
    known = [number for number in numbers if number is not None]
    low, high = (
        _limit(given.get("low"), min(known)),
        _limit(given.get("high"), max(known)),
    )
    if kind == "int" and not (_is_whole(low) and _is_whole(high)):
        raise DataError(
            f"`low` and `high` of parameter `{shown(name)}` in `{shown(folder / 'table.json')}` "
            f"must be whole, but are {low} and {high}."
        )
    log = bool(given.get("log", low > 0 and high / low >= 100))
    if kind == "int" and not _fits_an_int(low, high):
        raise DataError(
            f"Parameter `{shown(name)}` of the table in `{shown(folder)}` has whole numbers from "
            f"{low:.17g} to {high:.17g}, which an `Int` cannot hold: it lies within 2**50 of 0 "
            f'and spans no more. Set {{"parameters": {{"{shown(name)}": {{"type": "float"}}}}}} '
            "in `table.json`, or use other units."
        )
    return _made(
        lambda: Int(int(low), int(high), log) if kind == "int" else Float(low, high, log),
        name,
        folder,
    )


def _made(make: Callable[[], Parameter], name: str, folder: Path) -> Parameter:
    """Make a parameter; turn an error about it into one about the table."""
    try:
        return make()
    except OptionError as error:
        raise DataError(
            f"Parameter `{shown(name)}` of the table in `{shown(folder)}`: {error}"
        ) from None


def _fits_an_int(low: float, high: float) -> bool:
    return max(-low, high, high - low) <= MOST


def _require_plain_numbers(name: str, rows: list[Row], folder: Path) -> None:
    """Raise for numbers that only Python accepts, which would turn a column into names."""
    for row in rows:
        cell = row.cells[name]
        if _NEARLY_A_NUMBER.fullmatch(cell):
            raise DataError(
                f"{row.place} must have a plain number or a name as parameter `{shown(name)}`, "
                f"but has `{shown(cell)}`. Write it in digits, or set "
                f'{{"parameters": {{"{shown(name)}": {{"type": "choice"}}}}}} in '
                f"`{shown(folder / 'table.json')}`."
            )


def _parsed(row: Row, name: str, parameter: Parameter) -> Value:
    cell = row.cells[name]
    try:
        return parameter.clean(cell if isinstance(parameter, Choice) else _float(cell))
    except MetaBOError:  # a row of a test data set, which does not affect the parameter
        raise DataError(
            f"{row.place} has `{shown(cell)}` as parameter `{shown(name)}`, but that is "
            f"{brief(parameter)} by `table.json` and the data sets to learn from. "
            "Leave the row out, or set `low` and `high` there."
        ) from None


def _limit(given: object, seen: float) -> float:
    return float(given) if is_number(given) else seen


def _result(row: Row, name: str) -> float:
    number = _float(row.cells[name])
    if not is_number(number):
        raise DataError(
            f"{row.place} must have a finite number as `{shown(name)}`, but has "
            f"`{shown(row.cells[name])}`. Leave failed evaluations out."
        )
    if abs(number) > _LARGEST_RESULT:
        raise DataError(
            f"{row.place} must have a result within {_LARGEST_RESULT:g} of 0 as `{shown(name)}`, "
            f"but has `{shown(row.cells[name])}`. Use other units."
        )
    return number


def _float(cell: str) -> float | None:
    try:
        # Python reads `1_000` as a number, but in a table it is not one.
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _is_whole(number: float | None) -> bool:
    return is_number(number) and number == int(number)


def _order(configuration: tuple[Value, ...]) -> tuple[tuple[bool, object], ...]:
    return tuple((isinstance(value, str), value) for value in configuration)
