"""Reading and checking the card of an artifact, before anything is built from it.

A card comes from an untrusted file, so every field that is used later is checked here, and a
mistake is reported at once, in one sentence.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from metabo.acquisition import Architecture
from metabo.errors import DataError, brief, shown
from metabo.gp import Prior
from metabo.inputs import parse_json
from metabo.policies import MAX_LISTED
from metabo.pretrained import learned_prior
from metabo.rules import (
    FLAG,
    MAX_COUNT,
    NAME,
    OBJECT,
    Rule,
    is_number,
    list_of,
    number,
    one_of,
    optional,
    require_fields,
    whole,
)
from metabo.space import Space, Value
from metabo.space.schema import from_json

T = TypeVar("T")
Card = dict[str, object]

FORMAT = 1
MAX_TEXT = 8 * 2**20
"""Largest number of characters of a card."""
MAX_DIM = 10_000
MAX_LAYERS = 1_000


def parse_card(text: str, path: Path) -> Card:
    """Parse a card.

    Raises:
        DataError: If the text is not a card, or has a format that this version cannot read.
    """
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
    if not (is_number(version) and version == FORMAT):
        is_newer = is_number(version) and version > FORMAT
        advice = "Install a newer metabo." if is_newer else "Train it again."
        raise DataError(
            f"`{shown(path)}` has artifact format {brief(version)}, but this version of metabo "
            f"reads {FORMAT}. {advice}"
        )
    return card


def card_architecture(card: Card, path: Path) -> Architecture:
    """Return the architecture of the network."""
    return _checked(path, "an architecture", lambda: _architecture(card.get("architecture")))


def card_space(card: Card, path: Path, architecture: Architecture) -> Space:
    """Return the space of training; the unit cube, `x1` to `xD`, if the card has none."""
    described = card.get("space")
    if described is None:
        return Space.cube(architecture.dim)
    return _checked(path, "a space", lambda: _space(described, architecture))


def card_configurations(
    card: Card, path: Path, space: Space
) -> tuple[dict[str, Value], ...] | None:
    """Return the configurations of the training table; None if the card has none."""
    rows = card.get("configurations")
    if rows is None:
        return None
    return _checked(path, "configurations", lambda: _configurations(rows, space))


def card_prior(card: Card, path: Path) -> Prior | None:
    """Return the GP prior of training; None if the card has none."""
    described = card.get("prior")
    return None if described is None else _checked(path, "a prior", lambda: _prior(described))


def card_learned_shapes(
    card: Card, path: Path, architecture: Architecture
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the learned prior's tensors; none if the card has no such prior."""
    field = card.get(learned_prior.FIELD)
    if field is None:
        return {}
    read = partial(learned_prior.shapes_of, field, architecture.dim)
    return _checked(path, "a learned prior", read)


def card_budget(card: Card, path: Path) -> int | None:
    """Return the largest budget of training; None if the card has none."""
    described = card.get("budget")
    if described is None:
        return None
    _checked(path, "a budget", lambda: _BUDGET.require_in("it", described))
    return cast(list[int], described)[-1]


def require_usable(card: Card, path: Path, architecture: Architecture) -> None:
    """Raise `DataError` unless all fields that are used later are valid."""
    space = card_space(card, path, architecture)
    card_configurations(card, path, space)
    card_prior(card, path)
    card_budget(card, path)
    for field, what, rule in (
        ("direction", "a direction", optional(one_of("minimize", "maximize"))),
        ("replaces", "a list of files it replaces", list_of(_DIGEST, "SHA-256 digests")),
        ("family", "a family", NAME),
    ):
        if field in card:
            _checked(path, what, partial(rule.require_in, "it", card[field]))


def _checked(path: Path, what: str, read: Callable[[], T]) -> T:
    """Call `read`; turn any error about an untrusted value into one `DataError`."""
    try:
        return read()
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        reason = shown(str(error), 300).rstrip(".")
        raise DataError(
            f"The card of `{shown(path)}` has {what} that cannot be used: {reason}. Get the file "
            "again."
        ) from None


def _architecture(described: object) -> Architecture:
    found = require_fields(
        described,
        _ARCHITECTURE,
        "the architecture",
        required=("dim", "features", "hidden"),
        remedy="",
    )
    lists = {name: tuple(cast(list[object], found[name])) for name in ("features", "hidden")}
    return Architecture(**(found | lists))  # type: ignore[arg-type]


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
    OBJECT.require_in("it", described)
    return Prior.read(cast(Mapping[str, object], described))


_ARCHITECTURE = {
    "dim": whole(1, MAX_DIM),
    "features": list_of(NAME, "names", least=1, most=MAX_LAYERS),
    "hidden": list_of(
        whole(1, 2**31), f"at most {MAX_LAYERS} layer widths", least=1, most=MAX_LAYERS
    ),
    "activation": NAME,
    "normalize": FLAG,
    "init": one_of("paper", "orthogonal"),
    "feature_scale": number(),
    "residual": optional(NAME),
    "residual_weight": number(),
    "horizon": optional(whole(0, MAX_COUNT)),
}
"""Rules for the fields of an architecture."""
_BUDGET = Rule(
    f"the least and the most evaluations, whole numbers in 1..{MAX_COUNT}",
    lambda v: (
        list_of(whole(1, MAX_COUNT), "numbers", least=1, most=2).accepts(v) and v == sorted(v)  # type: ignore[call-overload]
    ),
)
_DIGEST = Rule("a SHA-256 digest", lambda v: isinstance(v, str) and len(v) == 64)
