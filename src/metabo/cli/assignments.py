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
    """Write parameters as `read_words` takes them, with every digit, quoted for a shell."""
    words = (f"{name}={_text(space.parameters[name], v)}" for name, v in params.items())
    return " ".join(quote(word) for word in words)


def read_words(words: Sequence[str], space: Space) -> tuple[dict[str, object], float | None]:
    """Read the parameters and, if `value=...` is among the words, the value.

    If a parameter is itself called `value`, the word sets that parameter.

    Raises:
        OptionError: If a word is not an assignment, or a name is given twice.
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
    """Split a word at its equals sign; the name of a parameter may contain one, too."""
    known = [name for name in space.parameters if word.startswith(f"{name}=")]
    if not known:
        return word.partition("=")
    name = max(known, key=len)
    return name, "=", word[len(name) + 1 :]


def read_number(text: str) -> float:
    """Read a finite number from a word.

    Raises:
        OptionError: If the word is not a finite number.
    """
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
    # A word is read as text unless it is some value's JSON, as `1` and `true` are. Text that is
    # not printable, such as a NUL or a newline, cannot be a word of one line.
    is_plain = isinstance(value, str) and value.isprintable() and _read(parameter, value) == value
    return str(value) if is_plain else json.dumps(value)


def _read(parameter: Parameter | None, text: str) -> object:
    """Read the value of a parameter; a word that does not fit is left for the space to refuse."""
    if isinstance(parameter, Choice):
        by_json = {json.dumps(value): value for value in parameter.values}
        return by_json.get(text, text)
    if isinstance(parameter, Int):
        return int(text) if _WHOLE.fullmatch(text) else text
    number = _float(text)
    return text if number is None else number


def _float(text: str) -> float | None:
    """Read a number in plain digits; None if the word is not a number that a float can hold.

    `float` would read `1_5` as 15 and 1e-400 as 0, which here are typing errors.
    """
    match = _NUMBER.fullmatch(text)
    number = float(text) if match else math.nan
    is_lost = number == 0 and match is not None and match[1].strip("0.") != ""
    return number if math.isfinite(number) and not is_lost else None
