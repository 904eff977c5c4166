"""The gains of a pendulum's controller."""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.errors import DomainError
from metabo.shapes import Float
from metabo.space import Float as Gain
from metabo.space import Space

GAINS = ("arm", "pendulum", "arm_speed", "pendulum_speed")
"""What each gain multiplies."""


@dataclass(frozen=True)
class GainBox:
    """The gains that are searched, and their place in the unit cube."""

    low: tuple[float, float, float, float]
    high: tuple[float, float, float, float]

    def decode(self, x: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n 4"]:
        """The gains at points of the unit cube."""
        gains = (a + (b - a) * x[..., i] for i, (a, b) in enumerate(self._sides))
        return torch.stack(list(gains), -1)

    def encode(self, gains: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n 4"]:
        """The points of the unit cube at which gains lie."""
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
        """The gains by name."""
        sides = zip(GAINS, self._sides, strict=True)
        return Space({name: Gain(*side) for name, side in sides})

    @property
    def _sides(self) -> list[tuple[float, float]]:
        return list(zip(self.low, self.high, strict=True))
