"""Evaluations, whose history is the whole state of a run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

import torch
from torch import Tensor

from metabo.choices import Direction as Direction
from metabo.errors import DataError, brief
from metabo.shapes import Float
from metabo.space import Value


@dataclass(frozen=True)
class Evaluation:
    """One evaluation, finished or failed.

    Examples:
        >>> Evaluation({"x": 0.5}, 1.25, (0.5,), number=1).is_failure
        False
    """

    params: dict[str, Value]
    """The parameters by name."""
    value: float | None
    """The value that the evaluation gave, in the user's units; None if it failed."""
    x: tuple[float, ...]
    """The point of the unit cube; for a proposal, exactly the one that was proposed."""
    number: int = field(default=0, compare=False)
    """The number of the evaluation in the run, from 1; it stays when others are forgotten."""

    @property
    def is_failure(self) -> bool:
        """Whether the evaluation gave no value."""
        return self.value is None

    @property
    def point(self) -> Float[Tensor, "1 D"]:
        """The point of the unit cube as a tensor with one row."""
        return torch.tensor([self.x], dtype=torch.float64)


def key(params: Mapping[str, Value]) -> object:
    """Return a key that two sets of parameters share if and only if they are the same."""
    # 1 == True in Python, but not to a user.
    return tuple((isinstance(value, bool), value) for value in params.values())


def require_value(value: object) -> float:
    """Convert a value to a float.

    Raises:
        DataError: If the value is not a finite number.
    """
    number = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        raise DataError(
            f"A value must be a finite number, but got {brief(value)}. Report a failed "
            "evaluation with `tell_failure`."
        )
    return number


def best_of(history: Sequence[Evaluation], direction: Direction) -> Evaluation | None:
    """Return the evaluation with the best value, the earliest of equals; None before any."""
    done = [one for one in history if one.value is not None]
    choose = min if direction == "minimize" else max
    return choose(done, key=lambda one: one.value or 0.0) if done else None


def running_best(history: Sequence[Evaluation], direction: Direction) -> list[float | None]:
    """Return the best value up to each evaluation; None before the first value."""
    choose, best = (min if direction == "minimize" else max), list[float | None]()
    for one in history:
        known = [value for value in (*best[-1:], one.value) if value is not None]
        best.append(choose(known) if known else None)
    return best


def model_values(history: Sequence[Evaluation], direction: Direction) -> list[float]:
    """Convert values for the model: larger is better, and a failure is as bad as the worst value.

    Before any value, failures count as 0, which the model expects everywhere.
    """
    sign = -1.0 if direction == "minimize" else 1.0
    values = [None if one.value is None else sign * one.value for one in history]
    worst = min((value for value in values if value is not None), default=0.0)
    return [worst if value is None else value for value in values]
