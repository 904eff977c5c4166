"""`Proposal`: a point to evaluate next, and why it was chosen."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from metabo.optimizer.queries import believing
from metabo.space import Value
from metabo.state import BOState


@dataclass(frozen=True, eq=False)
class Why:
    """The reasons for a proposal: the model's prediction, the best value so far, and the method.

    The prediction is computed when `mean` or `std` is first read, so that `ask` does not wait for
    it.

    Examples:
        >>> import metabo
        >>> optimizer = metabo.Optimizer({"x": metabo.Float(-1, 2)}, budget=9, af="ei")
        >>> (proposal,) = optimizer.propose()
        >>> print(proposal.why)
        The model cannot say yet; no value so far; chosen by `ei`.
    """

    method: str
    """The name of the acquisition function that chose the point."""
    best: float | None
    """The best value so far, as it was told; None before any value."""
    state: BOState = field(repr=False)
    """The state of the run after all evaluations that were told."""
    scale: Callable[[], tuple[float, float] | None] = field(repr=False)
    """Returns the told value that the model sees as 0, and the difference that it sees as 1
    (negative if small values are better); None if the model has no scale yet."""
    under_way: tuple[Tensor, ...] = field(repr=False)
    """Points under way, which the model assumes to give the value it expects."""
    x: Tensor = field(repr=False)
    """The proposed point of the unit cube."""

    @property
    def mean(self) -> float | None:
        """The value that the model expects at the point; None if it has no scale yet."""
        return self._predicted[0]

    @property
    def std(self) -> float | None:
        """The standard deviation of the expected value; None if the model has no scale yet."""
        return self._predicted[1]

    @property
    def guard(self) -> float | None:
        """The weight of the prior that knows nothing of past tasks; None if it is the only one."""
        return None if self.state.learned is None else float(self.state.guard)

    @property
    def sentence(self) -> str:
        """The reasons in one sentence, such as "Expected 0.81 ± 0.05; ... chosen by `ei`."."""
        parts = ["the model cannot say yet"] if self.mean is None else []
        if self.mean is not None:
            parts.append(f"expected {self.mean:.3g} ± {self.std:.2g}")
        parts.append("no value so far" if self.best is None else f"best so far {self.best:.3g}")
        if self.guard is not None:
            parts.append(f"past tasks fit with weight {1 - self.guard:.2g}")
        text = "; ".join([*parts, f"chosen by `{self.method}`"])
        return f"{text[0].upper()}{text[1:]}."

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence

    @cached_property
    def _predicted(self) -> tuple[float, float] | tuple[None, None]:
        """Mean and standard deviation in the user's units."""
        scale = self.scale()
        if scale is None:
            return None, None
        with torch.no_grad():
            state = believing(self.state, self.under_way)
            seen = state.belief(self.x[None, None]).decisive
            mean, std = seen.mean, seen.std
        # Added to 0, which is never printed as -0.
        return 0.0 + scale[0] + scale[1] * float(mean), abs(scale[1]) * float(std)


@dataclass(frozen=True)
class Proposal:
    """A point to evaluate next.

    Examples:
        >>> import metabo
        >>> optimizer = metabo.Optimizer({"x": metabo.Float(-1, 2)}, budget=9, af="ei")
        >>> (proposal,) = optimizer.propose()
        >>> proposal.params, proposal.point
        ({'x': 0.5}, (0.5,))
    """

    params: dict[str, Value]
    """The parameters by name, in the user's units."""
    point: tuple[float, ...]
    """The exact point of the unit cube, which the parameters may round."""
    why: Why = field(compare=False)
    """Why the point was chosen; `print(proposal.why)` prints it as a sentence."""
