"""The gains of a pendulum's controller."""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.errors import DomainError
from metabo.shapes import Float
from metabo.space import Float as Gain
from metabo.space import Space

GAINS = ("arm", "pendulum", "arm_speed", "pendulum_speed")
"""Names of the gains: the part of the state that each multiplies."""


@dataclass(frozen=True)
class GainBox:
    """The box of gains that is searched, scaled to the unit cube."""

    low: tuple[float, float, float, float]
    """Smallest gains."""
    high: tuple[float, float, float, float]
    """Largest gains."""

    def decode(self, x: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n 4"]:
        """Return the gains at points of the unit cube."""
        gains = (a + (b - a) * x[..., i] for i, (a, b) in enumerate(self._sides))
        return torch.stack(list(gains), -1)

    def encode(self, gains: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n 4"]:
        """Return the points of the unit cube for gains.

        Raises:
            DomainError: If gains lie outside the box.
        """
        x = torch.stack(
            [(gains[..., i] - a) / (b - a) for i, (a, b) in enumerate(self._sides)], -1
        )
        inside = ((x >= 0) & (x <= 1)).all(-1)
        if not bool(inside.all()):
            raise DomainError(
                f"Gains must lie between {list(self.low)} and {list(self.high)}, but got "
                f"{gains[~inside][0].tolist()}."
            )
        return x

    @property
    def space(self) -> Space:
        """The gains as named parameters."""
        sides = zip(GAINS, self._sides, strict=True)
        return Space({name: Gain(*side) for name, side in sides})

    @property
    def _sides(self) -> list[tuple[float, float]]:
        return list(zip(self.low, self.high, strict=True))
