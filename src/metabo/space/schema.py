"""Spaces as JSON, and differences between two spaces.

An example: `{"rate": {"type": "float", "low": 1e-05, "high": 0.1, "log": true}, "kind": {"type":
"choice", "values": ["a", "b"]}}`. An `Int` has the type `int`. The order of the names is the order
of the parameters.
"""

from collections.abc import Mapping

from metabo.errors import DataError, MetaBOError, brief, shown
from metabo.rules import FLAG
from metabo.space.parameter import Choice, Float, Int, Parameter
from metabo.space.space import Space

_TYPES: dict[str, type[Float] | type[Int]] = {"float": Float, "int": Int}


def to_json(space: Space) -> dict[str, dict[str, object]]:
    """Return the space as plain data."""
    return {name: _described(parameter) for name, parameter in space.parameters.items()}


def from_json(record: object) -> Space:
    """Restore a space from what `to_json` returned; `log` may be left out.

    Raises:
        DataError: If the record does not describe a space.
    """
    if not isinstance(record, Mapping):
        raise DataError(
            f"A space must be an object that maps names to parameters, but got {brief(record)}."
        )
    return Space({str(name): _read(str(name), one) for name, one in record.items()})


def first_difference(given: Space, known: Space) -> str | None:
    """Describe the first difference between two spaces; the order of parameters is ignored.

    Returns:
        The end of a sentence about the space `given`; None if the spaces are equal.
    """
    for name in known.parameters:
        if name not in given.parameters:
            return f"parameter `{shown(name)}` is missing"
    for name, parameter in given.parameters.items():
        if name not in known.parameters:
            return f"there is no parameter `{shown(name)}` in it"
        if parameter != known.parameters[name]:
            here, there = brief(parameter), brief(known.parameters[name])
            return f"parameter `{shown(name)}` is {here}, not {there}"
    return None


def _described(parameter: Parameter) -> dict[str, object]:
    if isinstance(parameter, Choice):
        return {"type": "choice", "values": list(parameter.values)}
    kind = "float" if isinstance(parameter, Float) else "int"
    number = float if kind == "float" else int
    return {
        "type": kind,
        "low": number(parameter.low),
        "high": number(parameter.high),
        "log": parameter.log,
    }


def _read(name: str, record: object) -> Parameter:
    fields = dict(record) if isinstance(record, Mapping) else {}
    kind = fields.pop("type", None)
    try:
        if kind == "choice" and set(fields) == {"values"}:
            values = fields["values"]
            return Choice(tuple(values) if isinstance(values, list) else values)
        if (
            isinstance(kind, str)
            and kind in _TYPES
            and {"low", "high"} <= set(fields) <= {"low", "high", "log"}
        ):
            FLAG.require_in("`log`", fields.get("log", False))
            return _TYPES[kind](**fields)
    except MetaBOError as error:
        raise DataError(f"Parameter `{shown(name)}`: {error}") from None
    raise DataError(
        f'Parameter `{shown(name)}` must be like {{"type": "float", "low": 0, "high": 1}} (or '
        f'`int`) or {{"type": "choice", "values": ["a", "b"]}}, but got {brief(record)}.'
    )
