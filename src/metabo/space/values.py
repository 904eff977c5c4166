"""Values of parameters: conversion to plain Python, and checks."""

import math
from numbers import Integral, Rational

import numpy

from metabo.errors import DataError, OptionError, brief
from metabo.rules import is_number

Value = float | int | str | bool | None
"""Value of one parameter."""


def to_plain(value: object) -> object:
    """Convert a NumPy scalar to a Python one; return anything else unchanged."""
    if not isinstance(value, numpy.generic):
        return value
    plain = value.item()
    # `item` leaves a long double as it is.
    return float(plain) if isinstance(plain, numpy.floating) else plain


def can_be_chosen(value: object) -> bool:
    """Tell whether a value survives being written to and read from JSON."""
    if isinstance(value, str):
        return is_writable(value)
    is_fraction = isinstance(value, Rational) and not isinstance(value, Integral)
    return value is None or isinstance(value, bool) or (is_number(value) and not is_fraction)


def is_writable(text: str) -> bool:
    """Tell whether text can be written to a file or terminal: a lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_interval(low: float, high: float, *, log: bool) -> None:
    """Raise `OptionError` unless the bounds are those of a valid interval."""
    if not isinstance(log, bool | numpy.bool_):
        raise OptionError(f"`log` must be True or False, but got {brief(log)}.")
    if not (is_number(low) and is_number(high) and low < high):
        raise OptionError(
            "`low < high` must hold, and both must be finite numbers, but got "
            f"low={brief(low)}, high={brief(high)}."
        )
    if not is_number(float(high) - float(low)):
        raise OptionError(
            f"`high - low` must be a finite number, but got low={brief(low)}, "
            f"high={brief(high)}. Use different units."
        )
    if log and low <= 0:
        raise OptionError(f"`low` must be positive on a log scale, but got low={brief(low)}.")


def number_in(value: object, low: float, high: float) -> float:
    """Return a number in [low, high] as a float; raise `DataError` if it is not one."""
    number = float(value) if is_number(value) else math.nan
    if not low <= number <= high:
        raise DataError(f"A value must be a number in [{low}, {high}], but got {brief(value)}.")
    return number


def scaled(low: float, high: float, at: float, *, log: bool) -> tuple[float, float, float]:
    """Return the numbers themselves, or their logarithms on a log scale."""
    return (math.log(low), math.log(high), math.log(at)) if log else (low, high, at)
