"""The table that `metabo evaluate` prints: regret, its curve and the time of each method."""

import math

from metabo.evaluation.numbers import fixed, scientific
from metabo.evaluation.results import Evaluation
from metabo.evaluation.table import Table, at_steps, names, numbers
from metabo.metrics import quantiles

_STEPS = (1, 5, 10, 20, 30, 50, 100)
_BLOCKS = "▁▂▃▄▅▆▇█"
_FLOOR = 1e-16
"""Regret below this is drawn as this, because zero has no logarithm."""


def summary(evaluation: Evaluation) -> Table:
    """Tabulate each method's median regret at a few steps, its curve in blocks, and its time."""
    steps = [t for t in _STEPS if t < evaluation.budget] + [evaluation.budget]
    curves = {
        name: quantiles(result.regret, [0.5])[0].tolist()
        for name, result in evaluation.methods.items()
    }
    logs = {name: [math.log10(max(v, _FLOOR)) for v in curve] for name, curve in curves.items()}
    low, high = (end(v for curve in logs.values() for v in curve) for end in (min, max))
    rows = [
        (
            name,
            *(scientific(curve[t - 1]) for t in steps),
            spark(logs[name], low, high),
            fixed(evaluation.methods[name].seconds_per_episode, 4),
        )
        for name, curve in curves.items()
    ]
    columns = [*names("method"), *at_steps(steps), *numbers(["log(regret)", "s/run"])]
    title = f"{evaluation.family}: median simple regret, {evaluation.tasks} tasks"
    return Table.of(title, columns, rows)


def spark(curve: list[float], low: float, high: float) -> str:
    """Draw a curve between two levels as a row of at most ten blocks.

    Examples:
        >>> spark([0.0, 1.0, 2.0], 0.0, 2.0)
        '▁▅█'
    """
    stride = max(1, math.ceil(len(curve) / 10))
    heights = [(value - low) / max(high - low, 1e-9) for value in curve[::stride]]
    return "".join(_BLOCKS[min(7, int(8 * height))] for height in heights)
