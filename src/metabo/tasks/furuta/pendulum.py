"""What all pendula have in common, simulated or real: trials with gains."""

from typing import Protocol, runtime_checkable

from torch import Tensor

from metabo.shapes import Float
from metabo.tasks.furuta.gains import GainBox


@runtime_checkable
class PendulumTasks(Protocol):
    """A batch of pendula whose controllers are to be tuned."""

    @property
    def box(self) -> GainBox:
        """The gains that are searched."""
        ...

    def trial(
        self, gains: Float[Tensor, "E N 4"]
    ) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N"]]:
        """Cost per second, and the share of the time until a crash: 1 where there is none."""
        ...
