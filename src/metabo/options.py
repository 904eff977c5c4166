"""The grammar of names with options, `name:option=value:...`, for both families and methods.

The options of a name are the keyword-only parameters of the function that builds it, with their
types and defaults. There is no second table to maintain.
"""

import inspect
from collections.abc import Callable, Mapping
from operator import index
from typing import Literal, Protocol, TypeVar, get_args, get_origin, runtime_checkable

from metabo.errors import OptionError, brief, shown, unknown
from metabo.rules import is_number, number, to_number

T = TypeVar("T")
Range = tuple[float, float]
"""A closed interval, written `low..high` in text."""


@runtime_checkable
class Readable(Protocol):
    """A type that reads its values from text itself."""

    @property
    def form(self) -> str:
        """Description of a valid value that follows "must be" in messages."""
        ...

    def read(self, value: object) -> object:
        """Return the value; raise `ValueError` or `TypeError` if it is not valid."""
        ...


_DIGITS = 18
"""Largest number of digits of a whole number: with more, it might not fit into 64 bits."""
_OPENED_BY = {"table": "path"}
"""Names whose first option may be given by its value alone, as in `table:FOLDER`."""


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Split `name:option=value:...` into the name and its options, whose values remain text."""
    if not isinstance(text, str):
        raise OptionError(f"A name must be text, such as `branin`, but got {brief(text)}.")
    name, *parts = text.strip().split(":")
    options: dict[str, str] = {}
    if name in _OPENED_BY and parts and "=" not in parts[0]:
        options[_OPENED_BY[name]] = parts.pop(0)
    for part in parts:
        option, equals, value = part.partition("=")
        if not (option and equals and value):
            raise OptionError(
                f"Options are written `name:option=value`, but got `{shown(part)}` in "
                f"`{shown(text)}`. Write for example `ucb:beta=4`."
            )
        if option in options:
            raise OptionError(
                f"Option `{shown(option)}` is given twice in `{shown(text)}`. Give it once."
            )
        options[option] = value
    return name, options


def build(kind: str, builder: Callable[..., T], options: Mapping[str, object]) -> T:
    """Call `builder` with options that are checked and converted to the types it declares.

    Args:
        kind: Name of what is being built in messages, such as "method `ucb`".
        builder: Function whose keyword-only parameters are the options.
        options: Values by name; text is converted to the declared type.

    Returns:
        The result of `builder`.

    Raises:
        OptionError: If an option is unknown, or its value does not have the declared type.
    """
    declared = declared_options(builder)
    for name in options:
        if name not in declared:
            raise unknown(f"option of {kind}", name, declared)
    converted = {
        name: convert(value, declared[name].annotation, f"Option `{name}` of {kind}")
        for name, value in options.items()
    }
    return builder(**converted)


def declared_options(builder: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Return the keyword-only parameters of a builder, in order."""
    parameters = inspect.signature(builder).parameters.values()
    return {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def convert(value: object, annotation: object, what: str) -> object:
    """Convert a value, which may be given as text, to the annotated type.

    Raises:
        OptionError: If it does not have this type.
    """
    accepted = get_args(annotation)
    if get_origin(annotation) is Literal:
        if not isinstance(value, str | int) or value not in accepted:
            choices = ", ".join(f"`{a}`" for a in accepted)
            raise OptionError(f"{what} must be one of {choices}, but got `{_text(value)}`.")
        return value
    if type(None) in accepted:
        if value is None or (isinstance(value, str) and value == "none"):
            return None
        (annotation,) = (a for a in accepted if a is not type(None))
    form, read = (
        (annotation.form, annotation.read)
        if isinstance(annotation, Readable)
        else _READERS[annotation]
    )
    try:
        return read(value)
    except (ValueError, TypeError, KeyError):
        raise OptionError(f"{what} must be {form}, but got `{_text(value)}`.") from None


def _text(value: object) -> str:
    """Return a value as a message repeats it."""
    return shown(value) if isinstance(value, str) else brief(value)


def _read_int(value: object) -> int:
    if not (isinstance(value, str) or is_number(value)):
        raise TypeError
    # `index` also converts the whole numbers of NumPy; it raises for fractions.
    found = int(value) if isinstance(value, str) else index(value)  # type: ignore[arg-type]
    if abs(found) >= 10**_DIGITS:
        raise ValueError
    return found


def _read_bool(value: object) -> bool:
    return {"true": True, "false": False, True: True, False: False}[value]


def _read_names(value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        raise TypeError
    return tuple(str(part).strip() for part in parts)


def _read_ints(value: object) -> tuple[int, ...]:
    return tuple(_read_int(part) for part in _read_names(value))


def _read_range(value: object) -> Range:
    parts = value.split("..") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or len(parts) != 2:
        raise TypeError
    return to_number(parts[0]), to_number(parts[1])


_READERS: dict[object, tuple[str, Callable[[object], object]]] = {
    int: (f"a whole number of at most {_DIGITS} digits", _read_int),
    float: (number().form, to_number),
    bool: ("`true` or `false`", _read_bool),
    str: ("a name", str),
    tuple[int, ...]: (
        f"whole numbers of at most {_DIGITS} digits, separated by commas",
        _read_ints,
    ),
    tuple[str, ...]: ("names separated by commas", _read_names),
    Range: ("a range `low..high` of finite numbers", _read_range),
}
"""Description of a valid value, and the function that reads it, for each type."""
