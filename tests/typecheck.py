"""The run-time type checker of the test suite: beartype, which takes an int for a float.

What a check finds depends on the types, shapes and dtypes of the arguments. A function that
passed it once with some of these is not checked again with the same ones. A function defined
inside another is decorated at every call of the outer one, but its check is made only once:
making it takes a millisecond. Without both, the checks would take most of the suite's time.
"""

from collections.abc import Callable

import torch
from beartype import BeartypeConf, beartype

Check = Callable[..., object]

_beartype = beartype(conf=BeartypeConf(is_pep484_tower=True))
_made: dict[object, Check] = {}


class _UnlikeAny(Exception):
    """The type of a value, such as a list, does not tell all that is checked: check it always."""


def _kind(value: object) -> object:
    """All that a check of a value looks at."""
    if isinstance(value, torch.Tensor):
        return type(value), value.dtype, value.shape
    if isinstance(value, type):
        return value
    if isinstance(value, tuple) and len(value) <= 4:
        return type(value), *map(_kind, value)
    if isinstance(value, tuple | list | dict | set | frozenset):
        raise _UnlikeAny
    return type(value)


def _once_per_kind(check: Check) -> Check:
    """Skip calls with kinds of arguments that passed before."""
    passed: set[object] = set()

    def once(*args: object, **kwargs: object) -> None:
        try:
            kinds = (*map(_kind, args), *kwargs, *map(_kind, kwargs.values()))
        except _UnlikeAny:
            check(*args, **kwargs)
            return
        if kinds not in passed:
            check(*args, **kwargs)
            passed.add(kinds)

    return once


def _make(function: Check) -> Check:
    check = _beartype(function)
    # Whether a literal fits depends on its value.
    return check if "Literal[" in str(function.__annotations__) else _once_per_kind(check)


def checked(function: Check) -> Check:
    """Check the arguments of a function by its annotations."""
    if "<locals>" not in function.__qualname__:
        return _make(function)
    key = (function.__module__, function.__qualname__, str(function.__annotations__))
    if key not in _made:
        _made[key] = _make(function)
    return _made[key]
