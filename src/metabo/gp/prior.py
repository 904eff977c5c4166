"""GP hyperparameters, shared by all episodes or one set for each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from metabo.errors import OptionError
from metabo.gp.kernels import KERNELS, KernelName
from metabo.shapes import Float

JITTER = 1e-8
"""Added to the diagonal beside the noise, as the GP library of the published experiments does."""


@dataclass(frozen=True)
class Prior:
    """A Gaussian-process prior: f ~ GP(m, s k), y = f(x) + N(0, noise)."""

    lengthscale: Float[Tensor, "#E D"]
    signal_variance: Float[Tensor, " #E"]
    noise_variance: Float[Tensor, " #E"]
    kernel: KernelName = "rbf"
    mean: Literal["zero", "observed"] = "zero"
    """`observed`: the average of the values observed so far (zero before the first)."""
    jitter: float = JITTER

    @classmethod
    def of(
        cls,
        lengthscale: Sequence[float],
        *,
        signal_variance: float,
        noise_variance: float,
        kernel: KernelName = "rbf",
        mean: Literal["zero", "observed"] = "zero",
    ) -> "Prior":
        """A prior shared by all episodes, from plain numbers."""
        if kernel not in KERNELS:
            raise OptionError(f"`kernel` must be one of {', '.join(KERNELS)}, but got `{kernel}`.")
        if min(*lengthscale, signal_variance) <= 0 or noise_variance < 0:
            raise OptionError(
                "Lengthscales and signal variance must be positive and the noise variance not "
                f"negative, but got {list(lengthscale)}, {signal_variance} and {noise_variance}."
            )
        one = torch.ones(1, dtype=torch.float64)
        scales = torch.tensor([list(lengthscale)], dtype=torch.float64)
        return cls(scales, signal_variance * one, noise_variance * one, kernel, mean)

    @property
    def dim(self) -> int:
        """Number of input dimensions."""
        return self.lengthscale.shape[-1]

    @property
    def diagonal(self) -> Float[Tensor, " #E"]:
        """What the covariance of observations has on its diagonal beside the signal variance."""
        return self.noise_variance + self.jitter

    def with_noise(self, std: float) -> "Prior":
        """The prior of the same function observed with further independent noise."""
        return replace(self, noise_variance=self.noise_variance + std**2)

    def to(self, device: torch.device | str) -> "Prior":
        """The same prior on another device."""
        return replace(
            self,
            lengthscale=self.lengthscale.to(device),
            signal_variance=self.signal_variance.to(device),
            noise_variance=self.noise_variance.to(device),
        )
