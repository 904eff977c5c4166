"""Rhino-1 and Rhino-2: a wide, low bump that reveals where the narrow, high one is.

Both reward a first, seemingly wasteful query on the wide bump, whose value there determines the
location of the peak. With bump(x; m, w) = exp(-(x - m)^2 / (2 w^2)):

    Rhino-1: 0.5 bump(x; 0.3 + t, 0.1) + 3 bump(x; 0.7 + t, 0.01)
    Rhino-2: h bump(x; 0.2, 0.1) + 2 bump(x; h, 0.01) - 1
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.gp import Prior
from metabo.options import Range
from metabo.shapes import Float, Int
from metabo.space import Space
from metabo.tasks.family import ParametricFamily
from metabo.tasks.parameters import ParameterBox, TaskParameter, signed

_WIDE, _NARROW = 0.1, 0.01


@dataclass(frozen=True)
class RhinoTasks:
    """A wide and a narrow bump on the unit interval, and a floor below them."""

    wide: Float[Tensor, " E"]
    """Centre of the wide bump."""
    wide_height: Float[Tensor, " E"]
    """Height of the wide bump."""
    narrow: Float[Tensor, " E"]
    """Centre of the narrow bump."""
    narrow_height: float
    """Height of the narrow bump."""
    floor: float
    """Value far from both bumps."""

    @property
    def argmax(self) -> Float[Tensor, "E 1"]:
        """Locations of the maxima: near the narrow bumps, up to 1e-6 towards the wide ones."""
        x = self.narrow
        # Newton's method from the narrow centre; two iterations reach the last digit.
        for _ in range(4):
            slope, bend = torch.zeros_like(x), torch.zeros_like(x)
            for height, centre, width in self._bumps():
                offset = (x - centre) / width
                value = height * (-0.5 * offset.square()).exp()
                slope = slope - value * offset / width
                bend = bend + value * (offset.square() - 1) / width**2
            x = x - slope / bend
        return x.clamp(0, 1)[:, None]

    @property
    def optimum(self) -> Float[Tensor, " E"]:
        """Values of the maxima."""
        return self(self.argmax[:, None, :])[:, 0]

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Evaluate each task at its own points."""
        value = torch.full_like(x[..., 0], self.floor)
        for height, centre, width in self._bumps():
            offset = (x[..., 0] - centre[:, None]) / width
            value = value + height[:, None] * (-0.5 * offset.square()).exp()
        return value

    def take(self, index: Int[Tensor, " n"]) -> "RhinoTasks":
        """Return the tasks with these indices."""
        return RhinoTasks(
            self.wide[index],
            self.wide_height[index],
            self.narrow[index],
            self.narrow_height,
            self.floor,
        )

    def to(self, device: torch.device | str) -> "RhinoTasks":
        """Return the same tasks on another device."""
        return RhinoTasks(
            self.wide.to(device),
            self.wide_height.to(device),
            self.narrow.to(device),
            self.narrow_height,
            self.floor,
        )

    def _bumps(self) -> tuple[tuple[Tensor, Tensor, float], ...]:
        """Return height, centre and width of the two bumps."""
        high = torch.full_like(self.narrow, self.narrow_height)
        return (self.wide_height, self.wide, _WIDE), (high, self.narrow, _NARROW)


def rhino_1(parameters: Mapping[str, Tensor]) -> RhinoTasks:
    """Return Rhino-1 tasks with given `translation`."""
    # Paper: its formula subtracts the translation, but its program adds it. The range is
    # symmetric, so the family is the same.
    shift = parameters["translation"][:, 0]
    return RhinoTasks(0.3 + shift, torch.full_like(shift, 0.5), 0.7 + shift, 3.0, 0.0)


def rhino_2(parameters: Mapping[str, Tensor]) -> RhinoTasks:
    """Return Rhino-2 tasks with given `height`, which is also the location of the peak."""
    height = parameters["height"]
    return RhinoTasks(torch.full_like(height, 0.2), height, height, 2.0, -1.0)


# The lengthscale is long on purpose: an acquisition function learns what the first query says
# about the peak only through the posterior mean elsewhere. With a lengthscale fitted to the narrow
# peak, the mean there would stay at zero.
PRIOR = Prior.of([0.3], signal_variance=1.0, noise_variance=1e-4)


def rhino_1_family(translation: Range = (0.0, 0.2)) -> ParametricFamily:
    """Return Rhino-1, by default with the published translations of magnitudes up to 0.2."""
    shift = signed("translation", translation, ((-0.7, 0.3),))
    return ParametricFamily("rhino-1", Space.cube(1), PRIOR, 10, ParameterBox((shift,)), rhino_1)


def rhino_2_family(height: Range = (0.6, 0.9)) -> ParametricFamily:
    """Return Rhino-2, by default with the published heights."""
    box = ParameterBox((TaskParameter("height", *height, limits=((0.5, 1.0),)),))
    return ParametricFamily("rhino-2", Space.cube(1), PRIOR, 10, box, rhino_2)
