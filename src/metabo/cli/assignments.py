"""Parameters and values as words of a command: `rate=0.1 kind=a value=3`."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from shlex import quote

from metabo.errors import OptionError, shown
from metabo.space import Choice, Int, Parameter, Space, Value

VALUE = "value"
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


def written(params: Mapping[str, Value], space: Space) -> str:
    """Parameters as `read_words` takes them, every digit included, safe in a shell."""
    words = (f"{name}={_text(space.parameters[name], v)}" for name, v in params.items())
    return " ".join(quote(word) for word in words)


def read_words(words: Sequence[str], space: Space) -> tuple[dict[str, object], float | None]:
    """The parameters and, where `value=...` is among the words, the value.

    Where a parameter is itself called `value`, the word sets that parameter.
    """
    params: dict[str, object] = {}
    value: float | None = None
    for word in words:
        name, equals, text = _halves(word, space)
        is_known = name in space.parameters
        if not (equals and (name or is_known) and (text or is_known)):
            raise OptionError(
                f"Parameters must be written `name=value`, but got `{shown(word)}`. Write, for "
                f"example, `{shown(next(iter(space.parameters)))}=0.5`."
            )
        if name in params or (name == VALUE and value is not None):
            raise OptionError(f"`{shown(name)}` is given twice. Give it once.")
        if name == VALUE and name not in space.parameters:
            value = read_number(text)
        else:
            params[name] = _read(space.parameters.get(name), text)
    return params, value


def _halves(word: str, space: Space) -> tuple[str, str, str]:
    """Name, sign and text; a parameter's name may itself have an equals sign in it."""
    known = [name for name in space.parameters if word.startswith(f"{name}=")]
    if not known:
        return word.partition("=")
    name = max(known, key=len)
    return name, "=", word[len(name) + 1 :]


def read_number(text: str) -> float:
    """A finite number from a word."""
    number = _float(text)
    if number is None:
        raise OptionError(
            f"A value must be a finite number, but got `{shown(text)}`. Write it like 0.37 or "
            "1e-3, or report a failed evaluation with `--failed` instead of a value."
        )
    return number


def _text(parameter: Parameter, value: Value) -> str:
    if not isinstance(parameter, Choice):
        return repr(value)
    # A word stands for text unless it is some value's JSON, as `1` and `true` are.
    # No word can hold a NUL, and a line should stay one.
    is_plain = isinstance(value, str) and value.isprintable() and _read(parameter, value) == value
    return str(value) if is_plain else json.dumps(value)


def _read(parameter: Parameter | None, text: str) -> object:
    """The value that a word stands for; what fits nothing is passed on, to be refused by name."""
    if isinstance(parameter, Choice):
        by_json = {json.dumps(value): value for value in parameter.values}
        return by_json.get(text, text)
    if isinstance(parameter, Int):
        return int(text) if _WHOLE.fullmatch(text) else text
    number = _float(text)
    return text if number is None else number


def _float(text: str) -> float | None:
    """The number that a word writes out in plain digits; None where it is none a float can hold.

    Python's own reader takes `1_5` for 15 and turns 1e-400 into 0, which are slips here.
    """
    match = _NUMBER.fullmatch(text)
    number = float(text) if match else math.nan
    is_lost = number == 0 and match is not None and match[1].strip("0.") != ""
    return number if math.isfinite(number) and not is_lost else None
