"""Steps until the median regret is at most an experiment's threshold."""

import torch

from metabo.evaluation.table import NOTHING, Cell
from metabo.metrics import bootstrap_steps, steps_to
from metabo.paper.results import Record


def first_step(result: Record, threshold: float | None) -> int:
    """The first step with such a median; one more than the budget if there is none."""
    median = torch.tensor([result["median"]], dtype=torch.float64)
    return int(steps_to(median, threshold or 0.0))


def steps_cell(result: Record | None, threshold: float | None, budget: int) -> Cell:
    """The first step with such a median, with a 90 % interval beside it."""
    if result is None or threshold is None:
        return Cell(NOTHING)
    regret = torch.tensor(result["regret"], dtype=torch.float64)
    low, step, high = bootstrap_steps(regret, threshold)
    if low > budget:
        return Cell(_step(low, budget))
    return Cell(_step(step, budget), f"{_step(low, budget)} to {_step(high, budget)}")


def _step(step: int, budget: int) -> str:
    return str(step) if step <= budget else f"more than {budget}"
