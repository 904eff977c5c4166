"""Random functions with a stationary covariance: sums of plane waves.

A stationary kernel is the average of cos(w'(x - x')) over its spectral density (Bochner). With W
frequencies w drawn from that density, amplitudes a from the Rayleigh distribution and phases p
from the circle,

    f(x) = sum_j a_j cos(w_j'x + p_j) / sqrt(W)

has exactly that kernel as its covariance over draws, and for given frequencies it is Gaussian:
a cos(p) and a sin(p) are independent standard normal.

| symbol      | meaning                          | shape |
| ----------- | -------------------------------- | ----- |
| `frequency` | w, in radians per unit of x      | E W D |
| `amplitude` | a / sqrt(W)                      | E W   |
| `phase`     | p                                | E W   |
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from metabo.seeding import Noise
from metabo.shapes import Float, Int

SpectralKernel = Literal["rbf", "matern52"]

_AT_ONCE = 2**22
"""Largest number of waves evaluated at once, summed over all points."""


@dataclass(frozen=True)
class FourierSum:
    """E sums of W plane waves each."""

    frequency: Float[Tensor, "E W D"]
    amplitude: Float[Tensor, "E W"]
    phase: Float[Tensor, "E W"]

    @classmethod
    def draw(
        cls,
        kernel: SpectralKernel,
        lengthscale: Float[Tensor, " E"],
        seed: Int[Tensor, " E"],
        *,
        dim: int,
        n_waves: int,
    ) -> "FourierSum":
        """Draw samples of a unit-variance GP that depend on the seeds only, on every device."""
        noise = Noise.at(0, episodes=seed, step=0)
        direction = noise.stream("direction").normal(n_waves * dim).unflatten(1, (n_waves, dim))
        if kernel == "matern52":
            # Student's t with 5 degrees of freedom: one chi-square for all axes of a frequency.
            # A separate one for each axis would give another, anisotropic kernel.
            pair = noise.stream("tail").uniform(2 * n_waves).unflatten(1, (n_waves, 2))
            last = noise.stream("last").normal(n_waves)
            chi_square = -2 * pair.log().sum(-1) + last.square()  # 4 + 1 degrees of freedom
            direction = direction * (5 / chi_square).sqrt().unsqueeze(-1)
        rayleigh = (-2 * noise.stream("amplitude").uniform(n_waves).log()).sqrt()
        return cls(
            direction / lengthscale[:, None, None],
            rayleigh / math.sqrt(n_waves),
            2 * math.pi * noise.stream("phase").uniform(n_waves),
        )

    def __call__(self, x: Float[Tensor, "E N D"]) -> Float[Tensor, "E N"]:
        """Evaluate each function at its own points, differentiably."""
        size = max(1, _AT_ONCE // self.phase.numel())
        parts = [self._weighted(self._angle(part).cos()) for part in x.split(size, 1)]
        return torch.cat(parts, 1)

    def with_gradient(
        self, x: Float[Tensor, "E N D"]
    ) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N D"]]:
        """Return values and gradients at a few points."""
        angle = self._angle(x)  # E N W
        slopes = angle.sin() * self.amplitude.unsqueeze(-2)
        return self._weighted(angle.cos()), -(slopes @ self.frequency)

    def on_sums(
        self, left: Float[Tensor, "L D"], right: Float[Tensor, "R D"]
    ) -> Float[Tensor, "E L R"]:
        """Evaluate the functions at all sums of a point of one set and a point of the other.

        cos(a + b) = cos a cos b - sin a sin b turns L R W cosines into a matrix product.
        """
        a = left @ self.frequency.mT + self.phase.unsqueeze(-2)  # E L W
        b = right @ self.frequency.mT  # E R W
        weight = self.amplitude.unsqueeze(-2)
        rows = torch.cat([weight * a.cos(), -weight * a.sin()], -1)
        return rows @ torch.cat([b.cos(), b.sin()], -1).mT

    def take(self, index: Int[Tensor, " n"]) -> "FourierSum":
        """Return the functions with these indices."""
        return FourierSum(self.frequency[index], self.amplitude[index], self.phase[index])

    def _angle(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.phase.unsqueeze(-2), x, self.frequency.mT)

    def _weighted(self, cosines: Tensor) -> Tensor:
        return (cosines @ self.amplitude.unsqueeze(-1)).squeeze(-1)
