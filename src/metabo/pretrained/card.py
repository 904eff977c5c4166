"""The card of an artifact: read and checked before anything is built from it.

A card comes from a file that anybody may have written, so every field that is used later is
checked here: a mistake is one sentence, found in milliseconds.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TypeVar, cast

from metabo.acquisition import Architecture
from metabo.errors import DataError, brief, shown
from metabo.gp import Prior
from metabo.inputs import parse_json
from metabo.policies import MAX_LISTED
from metabo.space import Space, Value
from metabo.space.schema import from_json

T = TypeVar("T")
Card = dict[str, object]

FORMAT = 1
MAX_TEXT = 8 * 2**20
"""Characters of a card."""
MAX_DIM = 10_000
MAX_LAYERS = 1_000
MAX_BUDGET = 1_000_000


def parse_card(text: str, path: Path) -> Card:
    """The card of this text, which must have a format that this version reads."""
    where = f"The card of `{shown(path)}`"
    if len(text) > MAX_TEXT:
        raise DataError(
            f"{where} must have at most {MAX_TEXT} characters, but has {len(text)}. Give a file "
            "that `metabo train` wrote."
        )
    card = parse_json(text, where)
    if not isinstance(card, dict):
        raise DataError(f"{where} must be an object, but is {brief(card)}. Get the file again.")
    version = card.get("format")
    if version != FORMAT or isinstance(version, bool):
        is_newer = isinstance(version, int) and version > FORMAT
        advice = "Install a newer metabo." if is_newer else "Train it again."
        raise DataError(
            f"`{shown(path)}` has artifact format {brief(version)}, but this version of metabo "
            f"reads {FORMAT}. {advice}"
        )
    return card


def card_architecture(card: Card, path: Path) -> Architecture:
    """What the network looks like."""
    return _checked(path, "an architecture", lambda: _architecture(card.get("architecture")))


def card_space(card: Card, path: Path, architecture: Architecture) -> Space:
    """What it was trained on; `x1` to `xD` in the unit cube where the card does not say."""
    described = card.get("space")
    if described is None:
        return Space.cube(architecture.dim)
    return _checked(path, "a space", lambda: _space(described, architecture))


def card_configurations(
    card: Card, path: Path, space: Space
) -> tuple[dict[str, Value], ...] | None:
    """Those of the table it was trained on, by name; None where the card has none."""
    rows = card.get("configurations")
    if rows is None:
        return None
    return _checked(path, "configurations", lambda: _configurations(rows, space))


def card_prior(card: Card, path: Path) -> Prior | None:
    """The GP prior it was trained with; None where the card has none."""
    described = card.get("prior")
    return None if described is None else _checked(path, "a prior", lambda: _prior(described))


def card_budget(card: Card, path: Path) -> int | None:
    """The longest runs it was trained on; None where the card does not say."""
    described = card.get("budget")
    return None if described is None else _checked(path, "a budget", lambda: _budget(described))


def require_usable(card: Card, path: Path, architecture: Architecture) -> None:
    """Raise unless all that is used of a card can be."""
    space = card_space(card, path, architecture)
    card_configurations(card, path, space)
    card_prior(card, path)
    card_budget(card, path)
    _checked(path, "a direction", lambda: _direction(card.get("direction")))
    _checked(path, "a list of files it replaces", lambda: _replaced(card.get("replaces", [])))
    _checked(path, "a family", lambda: _name(card.get("family", "")))


def _checked(path: Path, what: str, read: Callable[[], T]) -> T:
    """What is read; whatever goes wrong with a value from outside is told in one way."""
    try:
        return read()
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        reason = shown(str(error), 300).rstrip(".")
        raise DataError(
            f"The card of `{shown(path)}` has {what} that cannot be used: {reason}. Get the file "
            "again."
        ) from None


def _architecture(described: object) -> Architecture:
    if not isinstance(described, Mapping):
        raise DataError(f"it must be an object, but is {brief(described)}")
    known = {field.name for field in fields(Architecture)}
    for name, value in described.items():
        if name not in known:
            raise DataError(f"it has an unknown field `{shown(name)}`")
        form, is_right = _FORMS[name]
        if not is_right(value):
            raise DataError(f"`{name}` must be {form}, but is {brief(value)}")
    for name in ("dim", "features", "hidden"):
        if name not in described:
            raise DataError(f"`{name}` is missing")
    lists = {name: tuple(described[name]) for name in ("features", "hidden")}
    return Architecture(**cast(dict[str, object], dict(described) | lists))  # type: ignore[arg-type]


def _space(described: object, architecture: Architecture) -> Space:
    space = from_json(described)
    if space.dim != architecture.dim:
        raise DataError(
            f"it has {space.dim} coordinates, but the architecture is for {architecture.dim}"
        )
    return space


def _configurations(rows: object, space: Space) -> tuple[dict[str, Value], ...]:
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_LISTED:
        raise DataError(f"they must be a list of 1 to {MAX_LISTED} rows, but are {brief(rows)}")
    if not all(isinstance(row, list) and len(row) == len(space.parameters) for row in rows):
        raise DataError(f"each must be a list of {len(space.parameters)} values")
    return tuple(space.clean(dict(zip(space.parameters, row, strict=True))) for row in rows)


def _prior(described: object) -> Prior:
    if not isinstance(described, Mapping):
        raise DataError(f"it must be an object, but is {brief(described)}")
    return Prior.read(described)


def _budget(described: object) -> int:
    is_right = (
        isinstance(described, list)
        and 1 <= len(described) <= 2
        and all(_is_whole(one, 1, MAX_BUDGET) for one in described)
        and described == sorted(described)
    )
    if not is_right:
        raise DataError(
            f"it must be the least and the most evaluations, whole numbers in 1..{MAX_BUDGET}, "
            f"but is {brief(described)}"
        )
    return cast(list[int], described)[-1]


def _direction(described: object) -> None:
    if described not in (None, "minimize", "maximize"):
        raise DataError(f"it must be `minimize` or `maximize`, but is {brief(described)}")


def _replaced(described: object) -> None:
    is_right = isinstance(described, list) and all(
        isinstance(one, str) and len(one) == 64 for one in described
    )
    if not is_right:
        raise DataError(f"it must hold SHA-256 digests, but is {brief(described)}")


def _name(described: object) -> None:
    if not isinstance(described, str):
        raise DataError(f"it must be a name, but is {brief(described)}")


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_number(value: object) -> bool:
    is_plain = isinstance(value, int | float) and not isinstance(value, bool)
    # A whole number may be too large for a float.
    return is_plain and abs(cast(float, value)) <= 1e300 and math.isfinite(cast(float, value))


def _is_list(value: object, most: int, is_right: Callable[[object], bool]) -> bool:
    return isinstance(value, list) and 1 <= len(value) <= most and all(map(is_right, value))


_FORMS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "dim": (f"a whole number in 1..{MAX_DIM}", lambda v: _is_whole(v, 1, MAX_DIM)),
    "features": (
        "a list of names",
        lambda v: _is_list(v, MAX_LAYERS, lambda one: isinstance(one, str)),
    ),
    "hidden": (
        f"a list of at most {MAX_LAYERS} layer widths",
        lambda v: _is_list(v, MAX_LAYERS, lambda one: _is_whole(one, 1, 2**31)),
    ),
    "activation": ("a name", lambda v: isinstance(v, str)),
    "normalize": ("true or false", lambda v: isinstance(v, bool)),
    "init": ("`paper` or `orthogonal`", lambda v: v in ("paper", "orthogonal")),
    "feature_scale": ("a finite number", _is_number),
    "residual": ("a name or null", lambda v: v is None or isinstance(v, str)),
    "residual_weight": ("a finite number", _is_number),
}
"""What each field of an architecture must be, in words and as a test."""
