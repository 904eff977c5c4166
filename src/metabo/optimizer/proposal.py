"""`Proposal`: a point to evaluate next, and what is known about it."""

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
    """What a run knew about a point when it proposed it.

    The model is asked when `mean` or `std` is first read, so that asking costs nothing.
    """

    method: str
    """The name of the acquisition function that chose the point."""
    best: float | None
    """The best value so far, as it was told; None before any value."""
    state: BOState = field(repr=False)
    """The run after everything that was told."""
    scale: Callable[[], tuple[float, float] | None] = field(repr=False)
    """Gives the told value that the model sees as 0, and the difference that it sees as 1
    (negative where small values are better); None where the model has no scale yet."""
    under_way: tuple[Tensor, ...] = field(repr=False)
    """The points that count as evaluated with the value that the model expects."""
    x: Tensor = field(repr=False)
    """The point of the unit cube."""

    @property
    def mean(self) -> float | None:
        """The value that the model expects at the point; None where it has no scale yet."""
        return self._predicted[0]

    @property
    def std(self) -> float | None:
        """The standard deviation of the expected value; None where the model has no scale yet."""
        return self._predicted[1]

    @property
    def sentence(self) -> str:
        """All of it in one sentence, such as "Expected 0.81 ± 0.05; chosen by `ei`."."""
        parts = ["the model cannot say yet"] if self.mean is None else []
        if self.mean is not None:
            parts.append(f"expected {self.mean:.3g} ± {self.std:.2g}")
        parts.append("no value so far" if self.best is None else f"best so far {self.best:.3g}")
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
            mean, std = state.gp.predict(self.x[None, None])
        # Added to 0, which is never printed as -0.
        return 0.0 + scale[0] + scale[1] * float(mean), abs(scale[1]) * float(std)


@dataclass(frozen=True)
class Proposal:
    """A point to evaluate next."""

    params: dict[str, Value]
    """The parameters by name, as the user gave their ranges."""
    point: tuple[float, ...]
    """The exact point of the unit cube, which the parameters may round."""
    why: Why = field(compare=False)
    """What the run knew about the point; `print(proposal.why)` says it in a sentence."""
