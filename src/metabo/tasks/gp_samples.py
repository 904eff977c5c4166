"""Samples of Gaussian processes: functions of which only the smoothness is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from metabo.gp import Prior
from metabo.options import Range
from metabo.rules import whole
from metabo.shapes import Float, Int
from metabo.space import Space
from metabo.tasks.family import ParametricFamily
from metabo.tasks.fourier import FourierSum, SpectralKernel
from metabo.tasks.maximum import Effort, global_maximum
from metabo.tasks.parameters import ParameterBox, TaskParameter

N_WAVES = 512
MOST_DIMENSIONS = 20
_SEEDS = 2.0**48


@dataclass(frozen=True)
class GPSampleTasks:
    """E samples, each determined by its lengthscale and seed.

    The plane waves of a sample are drawn where they are needed, on a GPU inside the recorded
    graph, so that only two numbers per task are copied for a new batch.
    """

    kernel: SpectralKernel
    dim: int
    lengthscale: Float[Tensor, " E"]
    """Lengthscale of each sample, the same for all axes."""
    seed: Int[Tensor, " E"]
    """Random seed of each sample."""
    noise: float = 0.0
    """Standard deviation of the noise in observed values, which the prior includes."""

    @cached_property
    def waves(self) -> FourierSum:
        """The samples as sums of plane waves."""
        return FourierSum.draw(
            self.kernel, self.lengthscale, self.seed, dim=self.dim, n_waves=N_WAVES
        )

    @cached_property
    def global_maximum(self) -> tuple[Float[Tensor, "E D"], Float[Tensor, " E"]]:
        """Locations and values of the maxima, as found by a thorough search."""
        return global_maximum(self.waves, self.lengthscale, Effort.sized(self.dim))

    @property
    def argmax(self) -> Float[Tensor, "E D"]:
        """Locations of the maxima."""
        return self.global_maximum[0]

    @property
    def optimum(self) -> Float[Tensor, " E"]:
        """The largest values found."""
        return self.global_maximum[1]

    @property
    def prior(self) -> Prior:
        """Prior that each function was drawn from."""
        one = torch.ones_like(self.lengthscale)
        scales = self.lengthscale[:, None].expand(-1, self.dim)
        return Prior(scales, one, self.noise**2 * one, self.kernel)

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Evaluate each function at its own points."""
        return self.waves(x)

    def take(self, index: Int[Tensor, " n"]) -> "GPSampleTasks":
        """Return the functions with these indices."""
        scale, seed = self.lengthscale[index], self.seed[index]
        return GPSampleTasks(self.kernel, self.dim, scale, seed, self.noise)

    def to(self, device: torch.device | str) -> "GPSampleTasks":
        """Return the same functions on another device."""
        scale, seed = self.lengthscale.to(device), self.seed.to(device)
        return GPSampleTasks(self.kernel, self.dim, scale, seed, self.noise)


def gp_sample_family(
    kernel: SpectralKernel,
    *,
    dim: int = 3,
    lengthscale: Range = (0.05, 0.5),
    noise: float = 0.0,
) -> ParametricFamily:
    """Make a family of functions drawn from a GP of unit variance.

    The default lengthscales are the paper's. The prior of each task has its own lengthscale; the
    family's prior has the middle of the range.

    Args:
        kernel: Kernel of the GP.
        dim: Number of dimensions of the unit cube.
        lengthscale: Range from which the lengthscale of each function is drawn, the same for all
            axes.
        noise: Standard deviation of the noise in observed values.

    Returns:
        The family, with a budget of 30 evaluations and 10 more per dimension.

    Raises:
        OptionError: If an argument is not valid.

    Examples:
        >>> from metabo.tasks.gp_samples import gp_sample_family
        >>> family = gp_sample_family("rbf", dim=2)
        >>> family.name, family.budget, family.preset
        ('gp-rbf', 50, 'general')
    """
    whole(1, MOST_DIMENSIONS).require("dim", dim)
    box = ParameterBox(
        (
            TaskParameter("lengthscale", *lengthscale, limits=((0.01, 100.0),)),
            TaskParameter("seed", 0.0, _SEEDS, limits=((0.0, _SEEDS),)),
        )
    )

    def make(parameters: Mapping[str, Tensor]) -> GPSampleTasks:
        scale, seed = parameters["lengthscale"], parameters["seed"].long()
        return GPSampleTasks(kernel, dim, scale, seed, noise)

    prior = Prior.of(
        [sum(lengthscale) / 2] * dim, signal_variance=1.0, noise_variance=0.0, kernel=kernel
    )
    budget = 30 + 10 * dim
    cube = Space.cube(dim)
    family = ParametricFamily(f"gp-{kernel}", cube, prior, budget, box, make, preset="general")
    return family.observed_with(noise)
