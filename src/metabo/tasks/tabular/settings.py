"""The settings in a folder's `table.json`, all of which are optional."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from metabo.errors import DataError, brief, shown
from metabo.inputs import kind_of, read_json
from metabo.rules import (
    ANYTHING,
    BUDGET,
    FLAG,
    NAME,
    OBJECT,
    Rule,
    list_of,
    number,
    one_of,
    require_fields,
)
from metabo.tasks.tabular.table import Direction

_NAMES = Rule(
    "a list of names, each given once",
    lambda v: list_of(NAME, "names").accepts(v) and len(set(v)) == len(v),  # type: ignore[arg-type, call-overload]
)
_COLUMN = Rule("the name of a column", NAME.accepts)
_FIELDS = {
    "value": _COLUMN,
    "dataset": _COLUMN,
    "direction": one_of("maximize", "minimize"),
    "budget": BUDGET,
    "test": _NAMES,
    "together": Rule(
        "a list of lists of names, each given once in its list",
        list_of(_NAMES, "lists").accepts,
    ),
    "ignore": _NAMES,
    "parameters": Rule(
        'like {"C": {"type": "float", "log": true}}',
        lambda v: isinstance(v, Mapping) and all(map(OBJECT.accepts, v.values())),
    ),
    "provenance": ANYTHING,
}
"""Rules for the fields of a `table.json`."""
_PARAMETER = {
    "type": one_of("float", "int", "choice"),
    "log": FLAG,
    "low": number(),
    "high": number(),
}
"""Rules for the fields of a parameter."""
_REMEDY = "Change it there."


@dataclass(frozen=True)
class Settings:
    """Settings that cannot be inferred from the columns."""

    value: str = "value"
    """Column of the results."""
    dataset: str | None = None
    """Column of the data sets' names, which must exist; if None, the column `dataset` if there is
    one, or else each file is a data set."""
    direction: Direction = "maximize"
    """Whether larger or smaller results are better."""
    budget: int | None = None
    """Number of evaluations in an episode; by default 20, or all configurations if there are
    fewer."""
    test: tuple[str, ...] = ()
    """Names of the data sets held out for testing."""
    together: tuple[tuple[str, ...], ...] = ()
    """Groups of data sets of one origin, which no split may separate."""
    ignore: tuple[str, ...] = ()
    """Columns that are not parameters."""
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Type, limits and scale of parameters by name."""

    @property
    def names(self) -> str:
        """Column of the data sets' names."""
        return self.dataset or "dataset"


def read_settings(path: Path) -> Settings:
    """Return the settings in a file; the defaults if there is no such file.

    Raises:
        DataError: If the file cannot be read, or a setting is not valid.
    """
    if kind_of(path, "settings file") == "missing":
        return Settings()
    where = f"`{shown(path)}`"
    found = require_fields(read_json(path, "settings file"), _FIELDS, where, remedy=_REMEDY)
    record = cast(dict[str, Any], found)
    record.pop("provenance", None)
    for name, one in record.get("parameters", {}).items():
        who = f"parameter `{shown(name)}` of {where}"
        require_fields(one, _PARAMETER, who, remedy=_REMEDY)
    for key in ("test", "ignore"):
        record[key] = tuple(record.get(key, ()))
    record["together"] = tuple(map(tuple, record.get("together", ())))
    settings = Settings(**record)
    _check_columns(settings, path)
    return settings


def _check_columns(settings: Settings, path: Path) -> None:
    if settings.value == settings.names:
        raise _refused(
            path, "must differ from the column of the data sets", settings.value, "value"
        )
    for name in (settings.value, settings.names):
        if name in settings.ignore:
            raise _refused(
                path, "must not name the columns of results and data sets", name, "ignore"
            )


def _refused(path: Path, rule: str, value: object, key: str) -> DataError:
    return DataError(f"`{key}` in `{shown(path)}` {rule}, but has {brief(value)}. {_REMEDY}")
