"""The grammar of names with options, `name:option=value:...`, for families and methods alike.

What options a name takes is read off the function that builds it: its keyword-only parameters,
their types and defaults. There is no second table to keep.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Literal, Protocol, TypeVar, get_args, get_origin, runtime_checkable

from metabo.errors import OptionError, brief, shown, unknown

T = TypeVar("T")
Range = tuple[float, float]
"""A closed interval, written `low..high` in text."""


@runtime_checkable
class Readable(Protocol):
    """A type that reads its values from text itself."""

    @property
    def form(self) -> str:
        """What a value must be, for messages."""
        ...

    def read(self, value: object) -> object:
        """The value; `ValueError` or `TypeError` where it cannot be one."""
        ...


_DIGITS = 18
"""Longest whole number that an option can be: it fits 64 bits."""
_OPENED_BY = {"table": "path"}
"""Names whose first option may be given by its value alone: `table:FOLDER`."""


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Split `name:option=value:...` into the name and its options, values still text."""
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
    """Call `builder` with options checked by name and converted by the types it declares.

    Args:
        kind: What is being built, for messages, such as "method `ucb`".
        builder: A function whose keyword-only parameters are the options.
        options: Values by name; text is converted, other values are passed on.
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
    """The keyword-only parameters of a builder, in order."""
    parameters = inspect.signature(builder).parameters.values()
    return {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def convert(value: object, annotation: object, what: str) -> object:
    """A value of the annotated type from text, or the value itself where it is of that type."""
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
    except OverflowError:
        form = _LIMITED[annotation]
    except (ValueError, TypeError, KeyError):
        pass
    raise OptionError(f"{what} must be {form}, but got `{_text(value)}`.")


def _text(value: object) -> str:
    """A value as the message about it repeats it."""
    return shown(value) if isinstance(value, str) else brief(value)


def _read_int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, str | Integral):
        raise TypeError
    if isinstance(value, str) and len(value) > 1000:  # beyond 4,300 digits Python refuses itself
        raise OverflowError
    number = int(value)
    if abs(number) >= 10**_DIGITS:
        raise OverflowError
    return number


def _read_float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, str | Real):
        raise TypeError
    number = float(value)
    if not math.isfinite(number):
        raise OverflowError
    return number


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
    return _read_float(parts[0]), _read_float(parts[1])


_READERS: dict[object, tuple[str, Callable[[object], object]]] = {
    int: ("a whole number", _read_int),
    float: ("a number", _read_float),
    bool: ("`true` or `false`", _read_bool),
    str: ("a name", str),
    tuple[int, ...]: ("whole numbers with commas between", _read_ints),
    tuple[str, ...]: ("names with commas between", _read_names),
    Range: ("a range `low..high`", _read_range),
}
_LIMITED: dict[object, str] = {
    int: f"a whole number of at most {_DIGITS} digits",
    float: "a finite number",
    tuple[int, ...]: f"whole numbers of at most {_DIGITS} digits with commas between",
    Range: "a range `low..high` of finite numbers",
}
"""What to say of numbers that are too large."""
