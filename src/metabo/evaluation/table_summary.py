"""What is kept and shown of runs on tables: means with intervals, and how many are not solved."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from metabo.metrics import bootstrap_mean, fraction_solved
from metabo.shapes import Float

SOLVED = 1e-9
"""Regret up to which a data set's best configuration counts as found."""
MARKS = (1, 2, 3, 5, 10, 15, 20, 30)
Record = dict[str, Any]


def table_record(regret: Float[Tensor, "R E T"]) -> Record:
    """Of R runs on each of E data sets: the mean of each data set's runs, and what it comes to."""
    low, mean, high = bootstrap_mean(regret.mean(0))
    unsolved = 1 - fraction_solved(regret.flatten(0, 1), SOLVED)
    curves = {"mean": mean, "low": low, "high": high, "unsolved": unsolved}
    return {
        **{name: _digits(curve) for name, curve in curves.items()},
        "regret": [_digits(row) for row in regret.mean(0)],
    }


def table_rows(
    records: Mapping[str, Record], methods: Iterable[str], steps: Iterable[int]
) -> list[tuple[str, ...]]:
    """For each method the mean regret with its interval at some steps, and what is unsolved."""
    rows = []
    for method in methods:
        record = records.get(method)
        cells = [
            "-"
            if record is None
            else f"{record['mean'][t - 1]:.4f} ({record['low'][t - 1]:.4f}-"
            f"{record['high'][t - 1]:.4f})"
            for t in steps
        ]
        rows.append((method, *cells, "-" if record is None else f"{record['unsolved'][-1]:.0%}"))
    return rows


def marks(budget: int) -> list[int]:
    """Steps to print, the last one among them."""
    return [t for t in MARKS if t < budget] + [budget]


def _digits(row: Tensor) -> list[float]:
    return [float(f"{value:.5g}") for value in torch.atleast_1d(row).tolist()]
