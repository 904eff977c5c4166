"""A share that is fixed, or falls from 1 to 0 over an episode."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from metabo.errors import OptionError
from metabo.rules import to_number
from metabo.shapes import Float, Int


@dataclass(frozen=True)
class Schedule:
    """A share in [0, 1]; by default 1 at the first query, 0 at the last and linear in between.

    Raises:
        OptionError: If `share` is not in [0, 1].

    Examples:
        >>> import torch
        >>> float(Schedule().at(torch.tensor(5), torch.tensor(11)))
        0.5
        >>> Schedule.read("0.2")
        Schedule(share=0.2)
    """

    share: float | None = None
    """Fixed share in [0, 1]; None for the linear schedule."""

    form: ClassVar[str] = "a number in 0..1 or `linear`"
    """Description of the accepted values, for messages."""

    def __post_init__(self) -> None:
        """Check the number."""
        if self.share is not None and not 0 <= self.share <= 1:
            raise OptionError(f"A share must be {self.form}, but got {self.share}.")

    @classmethod
    def read(cls, value: object) -> "Schedule":
        """Return the schedule given as `linear` or as a number.

        Raises:
            ValueError: If the value is neither `linear` nor a number in [0, 1].
        """
        if isinstance(value, cls):
            return value
        if value == "linear":
            return cls()
        return cls(to_number(value))

    def at(self, step: Int[Tensor, ""], budget: Int[Tensor, ""]) -> Float[Tensor, ""] | float:
        """Return the share after `step` of `budget` evaluations."""
        if self.share is not None:
            return self.share
        return 1 - step.double() / (budget - 1).clamp_min(1)

    def __str__(self) -> str:
        return "linear" if self.share is None else f"{self.share:g}"
