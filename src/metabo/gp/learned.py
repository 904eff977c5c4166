"""The learned part of a prior: what source tasks have in common.

A task of the family is modelled as

    f(x) = c (m(x) + phi(x) . w + g(x)) + b,    w ~ N(0, I),  g ~ GP(0, share * signal * k),

with the mean m of the sources and the features phi in which they differ. Mean and features are
known at the inducing points Z and interpolated between them: [m, phi](x) = W' k(Z, x). After
learning, nothing depends on the number of sources any more.

How much of a new task the features leave to g, and its scale c and offset b, are not known in
advance. A *cell* is one guess of them. All cells are kept, and the data of the new task weighs
them by their evidence. It also weighs the plain prior, which knows nothing of the sources and
guards against a task unlike all of them (`metabo.gp.learned_posterior`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from metabo.errors import DataError
from metabo.gp.kernels import KERNELS, SLOPES, KernelName, square_distance
from metabo.shapes import Float

INTERPOLATION_JITTER = 1e-9
"""Share of the diagonal added to k(Z, Z) before it is inverted."""

ColumnPullback = Callable[[Tensor], Tensor]
"""Map derivatives with respect to the columns, `E R N`, to those of the points, `E N D`."""


@dataclass(frozen=True)
class Cells:
    """Guesses of how a new task relates to the sources, and the prior probability of each."""

    share: Float[Tensor, " C"]
    """Variance of the residual g, as a share of the prior's signal variance."""
    scale: Float[Tensor, " C"]
    """Factor c on the mean, the features and the residual."""
    offset_variance: Float[Tensor, " C"]
    """Variance of the constant b."""
    noise_share: Float[Tensor, " C"]
    """Factor on the noise and jitter of the plain prior.

    It is the share where tasks are observed exactly: the plain prior's noise then only stands for
    what its kernel cannot explain. It is 1 where values are noisy.
    """
    log_weight: Float[Tensor, " C"]
    """Logarithm of the prior probability of each cell."""
    log_plain: Float[Tensor, ""]
    """Logarithm of the prior probability of the plain prior; minus infinity without a guard."""

    def to(self, device: torch.device | str) -> "Cells":
        """Return the same cells on another device."""
        moved = (getattr(self, name).to(device) for name in CELL_TENSORS)
        return Cells(*moved)

    def unguarded(self) -> "Cells":
        """Return the cells without the plain prior among them."""
        total = self.log_weight.logsumexp(0)
        never = torch.full_like(self.log_plain, -torch.inf)
        return replace(self, log_weight=self.log_weight - total, log_plain=never)


CELL_TENSORS = ("share", "scale", "offset_variance", "noise_share", "log_weight", "log_plain")
"""Names of the tensors of `Cells`."""


@dataclass(frozen=True)
class LearnedPart:
    """Mean and features of a family of tasks, and the cells of a new task.

    Examples:
        >>> z = torch.linspace(0, 1, 9, dtype=torch.float64)[:, None]
        >>> part = LearnedPart.interpolating(
        ...     z, torch.stack([z[:, 0], z[:, 0] ** 2]), kernel="rbf", lengthscale=[0.5], cells=ONE
        ... )
        >>> x = torch.tensor([[[0.3]]], dtype=torch.float64)
        >>> [round(v, 3) for v in part.columns(x)[0, :, 0].tolist()]
        [0.3, 0.09]
    """

    z: Float[Tensor, "Z D"]
    """Inducing points, in the unit cube."""
    weights: Float[Tensor, "R Z"]
    """Weights of the kernel at the inducing points: the mean's first, then the features'."""
    lengthscale: Float[Tensor, "1 D"]
    """Lengthscale of the interpolation in each dimension."""
    kernel: KernelName
    """Kernel of the interpolation."""
    cells: Cells
    """Guesses of how a new task relates to the sources."""

    @classmethod
    def interpolating(
        cls,
        z: Float[Tensor, "Z D"],
        values: Float[Tensor, "R Z"],
        *,
        kernel: KernelName,
        lengthscale: Float[Tensor, " D"] | list[float],
        cells: Cells,
    ) -> "LearnedPart":
        """Return the part whose mean and features have these values at the inducing points.

        Raises:
            DataError: If the values cannot be interpolated in float64.
        """
        scale = torch.as_tensor(lengthscale, dtype=z.dtype).expand(1, z.shape[1])
        inverse = inverse_covariance(z, kernel, scale)
        return cls(z, values @ inverse, scale, kernel, cells)

    @property
    def rank(self) -> int:
        """Number of features."""
        return self.weights.shape[0] - 1

    @property
    def dim(self) -> int:
        """Number of input dimensions."""
        return self.z.shape[-1]

    def columns(self, x: Float[Tensor, "E N D"]) -> Float[Tensor, "E R N"]:
        """Return the mean and the features at each point."""
        return self.columns_with_pullback(x)[0]

    def columns_with_pullback(
        self, x: Float[Tensor, "E N D"]
    ) -> tuple[Float[Tensor, "E R N"], ColumnPullback]:
        """Return mean and features, and a function from derivatives in them to those in `x`."""
        episodes = x.shape[0]
        # Points that all episodes share, such as a grid, are computed once.
        x = x[:1] if x.stride(0) == 0 else x
        at = x * self._inverse_lengthscale
        r2 = square_distance(self._scaled_z.expand(len(x), -1, -1), at)  # E Z N
        k = KERNELS[self.kernel](r2)
        # One product per episode, so that its numbers do not depend on the others.
        weights = self.weights.expand(len(x), -1, -1)
        columns = torch.bmm(weights, k).expand(episodes, -1, -1)

        def pullback(d_columns: Tensor) -> Tensor:
            own = self.weights.mT.expand(episodes, -1, -1)
            d_r2 = torch.bmm(own, d_columns) * SLOPES[self.kernel](r2, k)  # E Z N
            towards = torch.bmm(d_r2.mT, self._scaled_z.expand(episodes, -1, -1))
            return (at * d_r2.sum(-2).unsqueeze(-1) - towards) * (2 * self._inverse_lengthscale)

        return columns, pullback

    def to(self, device: torch.device | str) -> "LearnedPart":
        """Return the same part on another device."""
        z, weights, lengthscale = (t.to(device) for t in (self.z, self.weights, self.lengthscale))
        return LearnedPart(z, weights, lengthscale, self.kernel, self.cells.to(device))

    def unguarded(self) -> "LearnedPart":
        """Return the part without the plain prior among its cells."""
        return replace(self, cells=self.cells.unguarded())

    @cached_property
    def _inverse_lengthscale(self) -> Float[Tensor, "1 1 D"]:
        return self.lengthscale.unsqueeze(-2).reciprocal()

    @cached_property
    def _scaled_z(self) -> Float[Tensor, "1 Z D"]:
        return self.z * self._inverse_lengthscale


def inverse_covariance(
    z: Float[Tensor, "Z D"], kernel: KernelName, lengthscale: Float[Tensor, "1 D"]
) -> Float[Tensor, "Z Z"]:
    """Return (k(Z, Z) + jitter)^-1.

    Raises:
        DataError: If the points coincide, so that there is no inverse in float64.
    """
    scaled = z / lengthscale
    k = KERNELS[kernel](square_distance(scaled, scaled))
    k.diagonal().add_(INTERPOLATION_JITTER)
    factor, info = torch.linalg.cholesky_ex(k)
    if bool(info != 0):
        raise DataError(
            f"The {len(z)} points of the sources cannot be interpolated: too many of them "
            "coincide. Leave out repeated points."
        )
    return torch.cholesky_inverse(factor)


_ONE = torch.ones(1, dtype=torch.float64)
ONE = Cells(1e-4 * _ONE, _ONE, 0 * _ONE, 1e-4 * _ONE, 0 * _ONE, -torch.inf * _ONE[0])
"""A single cell without a guard: the residual has 1e-4 of the signal variance."""
