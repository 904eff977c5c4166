"""What the `table.json` of a folder says, all of it optional."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metabo.errors import DataError
from metabo.tasks.tabular.table import Direction

_KEYS = (
    *("value", "dataset", "direction", "budget", "test", "together", "ignore", "parameters"),
    "provenance",
)
_TYPES = ("float", "int", "choice")


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
    if not path.exists():
        return Settings()
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"`{path}` cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"`{path}` must be JSON, but it is not: {error}.") from None
    if not isinstance(record, dict) or any(key not in _KEYS for key in record):
        raise DataError(f"`{path}` must be an object with keys among {', '.join(_KEYS)}.")
    record.pop("provenance", None)
    if record.get("direction", "maximize") not in ("maximize", "minimize"):
        raise DataError(
            f"`direction` in `{path}` must be `maximize` or `minimize`, but is "
            f"`{record['direction']}`."
        )
    for key in ("value", "dataset"):
        if not isinstance(record.get(key, ""), str):
            raise DataError(f"`{key}` in `{path}` must be the name of a column.")
    budget = record.get("budget", 1)
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise DataError(f"`budget` in `{path}` must be a whole number of at least 1.")
    for key in ("test", "ignore"):
        record[key] = _names(key, record.get(key, []), path)
    record["together"] = _groups(record.get("together", []), path)
    _check_parameters(record.get("parameters", {}), path)
    return Settings(**record)


def _groups(groups: object, path: Path) -> tuple[tuple[str, ...], ...]:
    if not isinstance(groups, list):
        raise DataError(f"`together` in `{path}` must be a list of lists of names.")
    return tuple(_names("together", group, path) for group in groups)


def _names(key: str, names: object, path: Path) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"`{key}` in `{path}` must be a list of names.")
    if len(set(names)) < len(names):
        raise DataError(f"`{key}` in `{path}` has a name twice. Give each once.")
    return tuple(names)


def _check_parameters(given: object, path: Path) -> None:
    if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
        raise DataError(
            f'`parameters` in `{path}` must be like {{"C": {{"type": "float", "log": true}}}}.'
        )
    for name, one in given.items():
        if any(key not in ("type", "log", "low", "high") for key in one):
            raise DataError(
                f"Parameter `{name}` in `{path}` can have `type`, `log`, `low` and `high`, but "
                f"has {[*one]}."
            )
        for key in ("low", "high"):
            if isinstance(one.get(key, 0), bool) or not isinstance(one.get(key, 0), int | float):
                raise DataError(
                    f"`{key}` of parameter `{name}` in `{path}` must be a number, but is "
                    f"`{one[key]}`."
                )
        if one.get("type", "float") not in _TYPES:
            raise DataError(
                f"The type of parameter `{name}` in `{path}` must be one of {', '.join(_TYPES)}, "
                f"but is `{one['type']}`."
            )
        if not isinstance(one.get("log", False), bool):
            raise DataError(
                f"`log` of parameter `{name}` in `{path}` must be true or false, but is "
                f"`{one['log']}`."
            )
