"""The common protocol of simulated and real pendula: trials with gains."""

from typing import Protocol, runtime_checkable

from torch import Tensor

from metabo.shapes import Float
from metabo.tasks.furuta.gains import GainBox


@runtime_checkable
class PendulumTasks(Protocol):
    """A batch of pendula whose controllers are to be tuned."""

    @property
    def box(self) -> GainBox:
        """Box of gains that is searched."""
        ...

    def trial(
        self, gains: Float[Tensor, "E N 4"]
    ) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N"]]:
        """Return the cost per second, and the share of the time before a crash, or else 1."""
        ...
