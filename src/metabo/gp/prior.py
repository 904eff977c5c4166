"""GP hyperparameters: one set shared by all episodes, or one set for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from metabo.errors import DataError, OptionError, unknown
from metabo.gp.kernels import KERNELS, KernelName
from metabo.gp.learned import LearnedPart
from metabo.rules import number
from metabo.shapes import Float, Int

JITTER = 1e-8
"""Constant added to the diagonal beside the noise, as in the published experiments' GP library.

It is absolute: values should have a scale of about one (a scale of 1e-4 would look like noise).
"""

SIGNAL_FLOOR = 1e-12
"""Smallest diagonal, as a share of the signal variance."""


@dataclass(frozen=True)
class Prior:
    """A Gaussian-process prior: f ~ GP(m, s k), y = f(x) + N(0, noise).

    Examples:
        >>> prior = Prior.of([0.2, 0.5], signal_variance=1.0, noise_variance=1e-4)
        >>> prior.dim, prior.kernel
        (2, 'rbf')
        >>> Prior.read(prior.record()).lengthscale.tolist()
        [[0.2, 0.5]]
    """

    lengthscale: Float[Tensor, "#E D"]
    """Lengthscale of each dimension, in units of the unit cube."""
    signal_variance: Float[Tensor, " #E"]
    """Variance s of the latent function."""
    noise_variance: Float[Tensor, " #E"]
    """Variance of the observation noise."""
    kernel: KernelName = "rbf"
    """Correlation function: `rbf`, `matern52` or `matern32`."""
    mean: Literal["zero", "observed"] = "zero"
    """Prior mean: `zero`, or `observed` for the average of the values so far (0 before any)."""
    jitter: float = JITTER
    """Constant added to the diagonal of the covariance, beside the noise."""
    learned: LearnedPart | None = None
    """What was learned from source tasks, shared by all episodes; None if nothing was."""

    def __post_init__(self) -> None:
        """Check the names; `of` and `read` check the numbers."""
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
        """Create a prior that all episodes share from plain numbers.

        Args:
            lengthscale: One positive number per dimension.
            signal_variance: Positive.
            noise_variance: Not negative.
            kernel: Correlation function: `rbf`, `matern52` or `matern32`.
            mean: `zero`, or `observed` for the average of the values so far.

        Returns:
            A prior with one row of hyperparameters, in float64 on the CPU.

        Raises:
            OptionError: If a number is out of range or a name unknown.
        """
        positive = [*lengthscale, signal_variance]
        if not (
            lengthscale
            and all(map(number(above=0).accepts, positive))
            and number(low=0).accepts(noise_variance)
        ):
            raise OptionError(
                "A GP prior needs at least one lengthscale; lengthscales and `signal_variance` "
                "must be positive, `noise_variance` must not be negative, and all must be finite, "
                f"but got {list(lengthscale)}, {signal_variance} and {noise_variance}."
            )
        one = torch.ones(1, dtype=torch.float64)
        scales = torch.tensor([list(lengthscale)], dtype=torch.float64)
        return cls(scales, signal_variance * one, noise_variance * one, kernel, mean)

    def record(self) -> dict[str, object]:
        """Return the prior as plain data that `read` restores exactly."""
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
        """Restore a prior from what `record` returned.

        Raises:
            DataError: If a field is missing, out of range, or of the wrong type or shape.
        """
        names = ("lengthscale", "signal_variance", "noise_variance")
        try:
            tensors = [torch.tensor(record[name], dtype=torch.float64) for name in names]
            kernel, mean, jitter = (record[name] for name in ("kernel", "mean", "jitter"))
            require_names(kernel, mean)  # type: ignore[arg-type]
        except KeyError as error:
            raise DataError(f"The GP prior cannot be read: {error} is missing.") from None
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise DataError(f"The GP prior cannot be read: {error}.") from None
        axes = [tensor.ndim for tensor in tensors]
        if axes != [2, 1, 1]:
            raise DataError(
                "The GP prior cannot be read: lengthscales must have 2 axes, signal and noise "
                f"variances 1 axis each, but they have {axes}."
            )
        scales, signal, noise = tensors
        rows = {len(tensor) for tensor in tensors} - {1}
        if len(rows) > 1 or not all(tensor.numel() for tensor in tensors):
            raise DataError(
                "A GP prior must have equally many rows of lengthscales, signal variances and "
                "noise variances, or one row for all episodes, but got shapes "
                f"{[tuple(tensor.shape) for tensor in tensors]}."
            )
        is_right = (
            all(bool(tensor.isfinite().all()) for tensor in tensors)
            and bool((scales > 0).all() and (signal > 0).all() and (noise >= 0).all())
            and number(low=0).accepts(jitter)
        )
        if not is_right:
            raise DataError(
                "A GP prior must have positive lengthscales and signal variances, a noise "
                "variance and jitter that are not negative, and finite numbers only, but got "
                f"{ {name: record[name] for name in (*names, 'jitter')} }."
            )
        return cls(scales, signal, noise, kernel, mean, jitter)  # type: ignore[arg-type]

    @property
    def dim(self) -> int:
        """Number of input dimensions."""
        return self.lengthscale.shape[-1]

    @property
    def diagonal(self) -> Float[Tensor, " #E"]:
        """Noise and jitter on the diagonal of the observations' covariance.

        It is at least 1e-12 of the signal variance: with less, values of a large scale would make
        the factor singular in float64.
        """
        floor = SIGNAL_FLOOR * self.signal_variance
        return torch.maximum(self.noise_variance + self.jitter, floor)

    def with_noise(self, std: float) -> "Prior":
        """Return the prior of the same function observed with additional independent noise.

        Args:
            std: Standard deviation of the additional noise.
        """
        return replace(self, noise_variance=self.noise_variance + std**2)

    def take(self, rows: Int[Tensor, " n"]) -> "Prior":
        """Return the priors of some episodes; a shared prior stays one row."""
        if self.lengthscale.shape[0] == 1:
            return self
        return replace(
            self,
            lengthscale=self.lengthscale[rows],
            signal_variance=self.signal_variance[rows],
            noise_variance=self.noise_variance[rows],
        )

    def to(self, device: torch.device | str) -> "Prior":
        """Return the same prior on another device."""
        return replace(
            self,
            lengthscale=self.lengthscale.to(device),
            signal_variance=self.signal_variance.to(device),
            noise_variance=self.noise_variance.to(device),
            learned=None if self.learned is None else self.learned.to(device),
        )


def require_names(kernel: str, mean: str) -> None:
    """Raise `OptionError` unless the kernel and the prior mean are known names."""
    if kernel not in KERNELS:
        raise unknown("kernel", kernel, KERNELS)
    if mean not in ("zero", "observed"):
        raise unknown("prior mean", mean, ("zero", "observed"))
