"""What the `table.json` of a folder says, all of it optional."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metabo.errors import DataError, brief, shown
from metabo.errors import shown as short
from metabo.inputs import kind_of, read_json
from metabo.tasks.tabular.table import Direction

_KEYS = (
    *("value", "dataset", "direction", "budget", "test", "together", "ignore", "parameters"),
    "provenance",
)
_TYPES = ("float", "int", "choice")
MOST_BUDGET = 10_000


@dataclass(frozen=True)
class Settings:
    """What cannot be guessed from the columns."""

    value: str = "value"
    dataset: str | None = None
    """A column that must be there; None for `dataset` where there is one, or else the files."""
    direction: Direction = "maximize"
    budget: int | None = None
    test: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    ignore: tuple[str, ...] = ()
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def names(self) -> str:
        """The column of data sets' names."""
        return self.dataset or "dataset"


def read_settings(path: Path) -> Settings:
    """The settings in a file; the usual ones where there is none."""
    if kind_of(path, "settings file") == "missing":
        return Settings()
    record = read_json(path, "settings file")
    if not isinstance(record, dict):
        raise _refused(path, f"must be an object with keys among {', '.join(_KEYS)}", record)
    for key in record:
        if key not in _KEYS:
            raise _refused(path, f"must be an object with keys among {', '.join(_KEYS)}", key)
    record.pop("provenance", None)
    _check_plain(record, path)
    for key in ("test", "ignore"):
        record[key] = _names(key, record.get(key, []), path)
    record["together"] = _groups(record.get("together", []), path)
    _check_parameters(record.get("parameters", {}), path)
    settings = Settings(**record)
    _check_columns(settings, path)
    return settings


def _check_plain(record: Mapping[str, object], path: Path) -> None:
    if record.get("direction", "maximize") not in ("maximize", "minimize"):
        raise _refused(path, "must be `maximize` or `minimize`", record["direction"], "direction")
    for key in ("value", "dataset"):
        if not isinstance(record.get(key, ""), str):
            raise _refused(path, "must be the name of a column", record[key], key)
    budget = record.get("budget", 1)
    if isinstance(budget, bool) or not isinstance(budget, int) or not 1 <= budget <= MOST_BUDGET:
        rule = f"must be a whole number of at least 1 and at most {MOST_BUDGET}"
        raise _refused(path, rule, budget, "budget")


def _check_columns(settings: Settings, path: Path) -> None:
    if settings.value == settings.names:
        raise _refused(
            path, "must be another column than that of the data sets", settings.value, "value"
        )
    for name in (settings.value, settings.names):
        if name in settings.ignore:
            raise _refused(
                path, "must not name the columns of results and data sets", name, "ignore"
            )


def _refused(path: Path, rule: str, value: object, key: str | None = None) -> DataError:
    where = f"`{shown(path)}`" if key is None else f"`{key}` in `{shown(path)}`"
    return DataError(f"{where} {rule}, but has {brief(value)}. Change it there.")


def _groups(groups: object, path: Path) -> tuple[tuple[str, ...], ...]:
    if not isinstance(groups, list):
        raise _refused(path, "must be a list of lists of names", groups, "together")
    return tuple(_names("together", group, path) for group in groups)


def _names(key: str, names: object, path: Path) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _refused(path, "must be a list of names", names, key)
    if len(set(names)) < len(names):
        raise DataError(f"`{key}` in `{shown(path)}` has a name twice. Give each once.")
    return tuple(names)


def _check_parameters(given: object, path: Path) -> None:
    if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
        rule = 'must be like {"C": {"type": "float", "log": true}}'
        raise _refused(path, rule, given, "parameters")
    for name, one in given.items():
        who = f"parameter `{short(name)}` in `{shown(path)}`"
        if any(key not in ("type", "log", "low", "high") for key in one):
            raise DataError(
                f"P{who[1:]} can have `type`, `log`, `low` and `high`, but has {brief([*one])}. "
                "Remove the others."
            )
        for key in ("low", "high"):
            if not _is_finite(one.get(key, 0)):
                raise DataError(
                    f"`{key}` of {who} must be a number that a float can hold, but is "
                    f"`{brief(one[key])}`. Use other units."
                )
        if one.get("type", "float") not in _TYPES:
            raise DataError(
                f"The type of {who} must be one of {', '.join(_TYPES)}, but is "
                f"`{brief(one['type'])}`."
            )
        if not isinstance(one.get("log", False), bool):
            raise DataError(f"`log` of {who} must be true or false, but is `{brief(one['log'])}`.")


def _is_finite(number: object) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number may be too large for a float
        return False
