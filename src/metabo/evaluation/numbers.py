"""Rounding of numbers, for storage and for display."""

import re

import torch
from torch import Tensor


def rounded(value: float, digits: int = 3) -> float:
    """Round a number to this many significant digits.

    Examples:
        >>> rounded(0.123456)
        0.123
    """
    return float(f"{value:.{digits}g}")


def rounded_row(row: Tensor, digits: int = 3) -> list[float]:
    """Round each number of a one-dimensional tensor; a scalar is a row of one."""
    return [rounded(value, digits) for value in torch.atleast_1d(row).tolist()]


def significant(value: float, digits: int = 2) -> str:
    """Write a number with at most this many significant digits.

    Examples:
        >>> significant(0.0600), significant(123.4, 3)
        ('0.06', '123')
    """
    return f"{value:.{digits}g}"


def scientific(value: float) -> str:
    """Write two significant digits with an exponent, so that all numbers have the same width.

    Examples:
        >>> scientific(0.0612)
        '6.1e-02'
    """
    return f"{value:.1e}"


def fixed(value: float, decimals: int) -> str:
    """Write a number with this many digits after the point.

    Examples:
        >>> fixed(0.5, 4)
        '0.5000'
    """
    return f"{value:.{decimals}f}"


def percent(share: float) -> str:
    """Write a share in whole percent.

    Examples:
        >>> percent(0.253)
        '25%'
    """
    return f"{share:.0%}"


def brief(value: float, digits: int = 2) -> str:
    """Write a number like `significant`, without a leading zero, or with an exponent below 0.001.

    Examples:
        >>> brief(0.0623), brief(1.04e-5)
        ('.062', '1.0e-05')
    """
    if 0 < abs(value) < 1e-3:
        return scientific(value)
    return re.sub(r"^(-?)0\.", r"\1.", significant(value, digits))
