"""GP hyperparameters, shared by all episodes or one set for each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from metabo.errors import DataError, OptionError, unknown
from metabo.gp.kernels import KERNELS, KernelName
from metabo.shapes import Float, Int

JITTER = 1e-8
"""Added to the diagonal beside the noise, as the GP library of the published experiments does.

It is absolute: values should have a scale of about one (1e-4 would be taken for noise).
"""

SIGNAL_FLOOR = 1e-12
"""Least share of the signal variance that the diagonal has."""


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

    def __post_init__(self) -> None:
        """Check the names; numbers are checked where they enter, in `of`."""
        require_names(self.kernel, self.mean)

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
        positive = [*lengthscale, signal_variance]
        if not (
            lengthscale
            and all(v > 0 and math.isfinite(v) for v in positive)
            and noise_variance >= 0
            and math.isfinite(noise_variance)
        ):
            raise OptionError(
                "Lengthscales and signal variance must be positive, the noise variance not "
                "negative, all of them finite, and there must be a lengthscale, but got "
                f"{list(lengthscale)}, {signal_variance} and {noise_variance}."
            )
        one = torch.ones(1, dtype=torch.float64)
        scales = torch.tensor([list(lengthscale)], dtype=torch.float64)
        return cls(scales, signal_variance * one, noise_variance * one, kernel, mean)

    def record(self) -> dict[str, object]:
        """The prior as plain data, exactly."""
        return {
            "kernel": self.kernel,
            "mean": self.mean,
            "lengthscale": self.lengthscale.tolist(),
            "signal_variance": self.signal_variance.tolist(),
            "noise_variance": self.noise_variance.tolist(),
            "jitter": self.jitter,
        }

    @classmethod
    def read(cls, record: Mapping[str, object]) -> "Prior":
        """The prior that `record` described.

        Raises:
            DataError: If a field is missing, of another type or shape, or out of its range.
        """
        names = ("lengthscale", "signal_variance", "noise_variance")
        try:
            tensors = [torch.tensor(record[name], dtype=torch.float64) for name in names]
            kernel, mean, jitter = (record[name] for name in ("kernel", "mean", "jitter"))
            require_names(kernel, mean)  # type: ignore[arg-type]
            is_finite = isinstance(jitter, int | float) and math.isfinite(jitter)
        except KeyError as error:
            raise DataError(f"A GP prior cannot be read: {error} is missing.") from None
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise DataError(f"A GP prior cannot be read: {error}.") from None
        axes = [tensor.ndim for tensor in tensors]
        if axes != [2, 1, 1]:
            raise DataError(f"A GP prior cannot be read: its numbers have {axes} axes.")
        scales, signal, noise = tensors
        rows = {len(tensor) for tensor in tensors} - {1}
        if len(rows) > 1 or not all(tensor.numel() for tensor in tensors):
            raise DataError(
                "A GP prior must have as many lengthscales, signal and noise variances, or one "
                f"for all, but got shapes {[tuple(tensor.shape) for tensor in tensors]}."
            )
        is_right = (
            all(bool(tensor.isfinite().all()) for tensor in tensors)
            and bool((scales > 0).all() and (signal > 0).all() and (noise >= 0).all())
            and is_finite
            and not isinstance(jitter, bool)
            and jitter >= 0  # type: ignore[operator]
        )
        if not is_right:
            raise DataError(
                "A GP prior must have positive lengthscales and signal variances, no negative "
                "noise variance or jitter, and finite numbers only, but got "
                f"{ {name: record[name] for name in (*names, 'jitter')} }."
            )
        return cls(scales, signal, noise, kernel, mean, jitter)  # type: ignore[arg-type]

    @property
    def dim(self) -> int:
        """Number of input dimensions."""
        return self.lengthscale.shape[-1]

    @property
    def diagonal(self) -> Float[Tensor, " #E"]:
        """What the covariance of observations has on its diagonal beside the signal variance.

        At least 1e-12 of the signal variance: with less, values of a large scale would leave the
        factor singular in float64.
        """
        floor = SIGNAL_FLOOR * self.signal_variance
        return torch.maximum(self.noise_variance + self.jitter, floor)

    def with_noise(self, std: float) -> "Prior":
        """The prior of the same function observed with further independent noise."""
        return replace(self, noise_variance=self.noise_variance + std**2)

    def take(self, rows: Int[Tensor, " n"]) -> "Prior":
        """The priors of some episodes; one that is shared by all stays one."""
        if self.lengthscale.shape[0] == 1:
            return self
        return replace(
            self,
            lengthscale=self.lengthscale[rows],
            signal_variance=self.signal_variance[rows],
            noise_variance=self.noise_variance[rows],
        )

    def to(self, device: torch.device | str) -> "Prior":
        """The same prior on another device."""
        return replace(
            self,
            lengthscale=self.lengthscale.to(device),
            signal_variance=self.signal_variance.to(device),
            noise_variance=self.noise_variance.to(device),
        )


def require_names(kernel: str, mean: str) -> None:
    """Raise unless the kernel and the prior mean are known."""
    if kernel not in KERNELS:
        raise unknown("kernel", kernel, KERNELS)
    if mean not in ("zero", "observed"):
        raise unknown("prior mean", mean, ("zero", "observed"))
