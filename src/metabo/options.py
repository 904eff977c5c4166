"""The grammar of names with options, `name:option=value:...`, for families and methods alike.

What options a name takes is read off the function that builds it: its keyword-only parameters,
their types and defaults. There is no second table to keep.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

from metabo.errors import OptionError, unknown

T = TypeVar("T")
Range = tuple[float, float]
"""A closed interval, written `low..high` in text."""


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Split `name:option=value:...` into the name and its options, values still text."""
    name, *parts = text.strip().split(":")
    options: dict[str, str] = {}
    for part in parts:
        option, equals, value = part.partition("=")
        if not (option and equals and value):
            raise OptionError(
                f"Options are written `name:option=value`, but got `{part}` in `{text}`. "
                "Write for example `ucb:beta=4`."
            )
        if option in options:
            raise OptionError(f"Option `{option}` is given twice in `{text}`. Give it once.")
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
        name: _convert(value, declared[name].annotation, f"Option `{name}` of {kind}")
        for name, value in options.items()
    }
    return builder(**converted)


def declared_options(builder: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """The keyword-only parameters of a builder, in order."""
    parameters = inspect.signature(builder).parameters.values()
    return {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _convert(value: object, annotation: Any, what: str) -> object:
    if not isinstance(value, str):
        return value
    accepted = [a for a in get_args(annotation) if a is not type(None)]
    if get_origin(annotation) is Literal:
        if value not in accepted:
            choices = ", ".join(f"`{a}`" for a in accepted)
            raise OptionError(f"{what} must be one of {choices}, but got `{value}`.")
        return value
    target = annotation if annotation == Range or not accepted else accepted[0]
    try:
        if target == Range:
            low, _, high = value.partition("..")
            return float(low), float(high)
        return target(value)
    except ValueError:
        form = {Range: "a range `low..high`", int: "a whole number", float: "a number"}[target]
        raise OptionError(f"{what} must be {form}, but got `{value}`.") from None
