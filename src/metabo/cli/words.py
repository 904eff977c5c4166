"""Parameters and values as words of a command: `rate=0.1 kind=a value=3`."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from shlex import quote

from metabo.errors import OptionError, shown
from metabo.space import Choice, Int, Parameter, Space, Value

VALUE = "value"


def written(params: Mapping[str, Value], space: Space) -> str:
    """Parameters as `read_words` takes them, every digit included, safe in a shell."""
    words = (f"{name}={_text(space.parameters[name], v)}" for name, v in params.items())
    return " ".join(quote(word) for word in words)


def read_words(words: Sequence[str], space: Space) -> tuple[dict[str, object], float | None]:
    """The parameters and, where `value=...` is among the words, the value.

    Of a parameter that is itself called `value` the word is that parameter's.
    """
    params: dict[str, object] = {}
    value: float | None = None
    for word in words:
        name, equals, text = _halves(word, space)
        is_known = name in space.parameters
        if not (equals and (name or is_known) and (text or is_known)):
            raise OptionError(
                f"Parameters are written `name=value`, but got `{shown(word)}`. Write for example "
                f"`{shown(next(iter(space.parameters)))}=0.5`."
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
    number = math.nan
    with suppress(ValueError):
        number = float(text)
    if not math.isfinite(number):
        raise OptionError(
            f"A value must be a finite number, but got `{shown(text)}`. Tell a failed "
            "evaluation with `--failed` instead of a value."
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
    with suppress(ValueError):
        return int(text) if isinstance(parameter, Int) else float(text)
    return text
