"""The learned part of a prior: what source tasks have in common.

A task of the family is modelled as

    f(x) = c (m(x) + phi(x) . w + g(x)) + b,    g ~ GP(0, share * signal * k),

with the mean m of the sources and the features phi in which they differ. Mean and features are
known at the inducing points Z and interpolated between them: [m, phi](x) = W' k(Z, x). After
learning, nothing depends on the number of sources any more.

The coefficients w of a task like any of the sources are N(0, I). Where tasks differ in a few
numbers only, the coefficients of the sources lie on a curved surface, which a normal distribution
describes badly. So similar sources form *groups*: those of a task like the sources of group i are
N(u_i, S_i), a piece of the surface that is nearly flat.

Which group a new task resembles, how much of it the features leave to g, and its scale c and
offset b, are not known in advance. A *cell* is one guess of them (`metabo.gp.cells`). The data of
the new task weighs them by their evidence. It also weighs the plain prior, which knows nothing of
the sources and guards against a task unlike all of them (`metabo.gp.learned_posterior`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from metabo.errors import DataError
from metabo.gp.cells import Cells
from metabo.gp.grids import AtGrids, is_shared
from metabo.gp.kernels import KERNELS, WITH_SLOPES, KernelName, square_distance
from metabo.shapes import Float

_PROMISING = 64
"""Number of promising points, about."""
INTERPOLATION_JITTER = 1e-9
"""Share of the diagonal added to k(Z, Z) before it is inverted."""

ColumnPullback = Callable[[Tensor], Tensor]
"""Map derivatives with respect to the columns, `E R N`, to those of the points, `E N D`."""


@dataclass(frozen=True)
class Groups:
    """Groups of similar sources: the distribution of the coefficients in each of them."""

    centre: Float[Tensor, "G R"]
    """Mean coefficients of each group."""
    spread: Float[Tensor, "G R Q"]
    """Factor B of the covariance B B' of each group's coefficients."""

    @classmethod
    def none(cls, rank: int) -> "Groups":
        """Return no groups at all."""
        spread = torch.zeros(0, rank, 0, dtype=torch.float64)
        return cls(spread.sum(-1), spread)

    def to(self, device: torch.device | str) -> "Groups":
        """Return the same groups on another device."""
        return Groups(self.centre.to(device), self.spread.to(device))


@dataclass(frozen=True)
class LearnedPart:
    """Mean and features of a family of tasks, and the cells of a new task.

    Examples:
        >>> from metabo.gp.cells import ONE
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
    groups: Groups
    """Groups of similar sources."""
    level: Float[Tensor, ""]
    """Constant to which the mean returns far from the inducing points."""

    @classmethod
    def interpolating(
        cls,
        z: Float[Tensor, "Z D"],
        values: Float[Tensor, "R Z"],
        *,
        kernel: KernelName,
        lengthscale: Float[Tensor, " D"] | list[float],
        cells: Cells,
        groups: Groups | None = None,
        has_level: bool = False,
    ) -> "LearnedPart":
        """Return the part whose mean and features have these values at the inducing points.

        Without a level, the mean returns to 0 far from the inducing points.

        Raises:
            DataError: If the values cannot be interpolated in float64.
        """
        scale = torch.as_tensor(lengthscale, dtype=z.dtype).expand(1, z.shape[1])
        inverse = inverse_covariance(z, kernel, scale)
        groups = Groups.none(len(values) - 1) if groups is None else groups
        level = level_of(values[0], inverse) if has_level else values.new_zeros(())
        weights = weights_of(values, level, inverse)
        return cls(z, weights, scale, kernel, cells, groups, level)

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
        if not is_shared(x):
            return self._computed(x)
        columns = self._at_grids(x).expand(x.shape[0], -1, -1)
        return columns, lambda d_columns: self._computed(x)[1](d_columns)

    def _computed(self, x: Float[Tensor, "E N D"]) -> tuple[Tensor, ColumnPullback]:
        episodes = x.shape[0]
        at = x * self._inverse_lengthscale
        r2 = square_distance(self._scaled_z.expand(episodes, -1, -1), at)  # E Z N
        k, slope = WITH_SLOPES[self.kernel](r2)
        # One product per episode, so that its numbers do not depend on the others.
        columns = torch.baddbmm(self._far, self.weights.expand(episodes, -1, -1), k)

        def pullback(d_columns: Tensor) -> Tensor:
            d_r2 = torch.bmm(self.weights.mT.expand(episodes, -1, -1), d_columns) * slope
            towards = torch.bmm(d_r2.mT, self._scaled_z.expand(episodes, -1, -1))
            return (at * d_r2.sum(-2).unsqueeze(-1) - towards) * (2 * self._inverse_lengthscale)

        return columns, pullback

    def to(self, device: torch.device | str) -> "LearnedPart":
        """Return the same part on another device; itself if it is there already."""
        own = (self.z, self.weights, self.lengthscale, self.level)
        z, weights, lengthscale, level = (tensor.to(device) for tensor in own)
        # What it has cached stays useful, and a recorded graph could not compute it again.
        if z is self.z:
            return self
        cells, groups = self.cells.to(device), self.groups.to(device)
        return LearnedPart(z, weights, lengthscale, self.kernel, cells, groups, level)

    def unguarded(self) -> "LearnedPart":
        """Return the part without the plain prior among its cells."""
        return replace(self, cells=self.cells.unguarded())

    @cached_property
    def usual(self) -> Float[Tensor, ""]:
        """A value that every good point exceeds: improvement counts from it before any other."""
        return torch.minimum(self.level, self._at_z[0].mean())

    @cached_property
    def promising(self) -> Float[Tensor, "n D"]:
        """Inducing points where a task like the sources may have its maximum.

        They are the best ones on average over all sources and for each group. A good region may
        be so small that no grid has a point in it.
        """
        value = self._at_z[0] + self.centre @ self._at_z[1:]  # A Z
        n = min(max(1, _PROMISING // len(value)), value.shape[1])
        return self.z[value.topk(n, -1).indices.unique()]

    @cached_property
    def centre(self) -> Float[Tensor, "A R"]:
        """Mean coefficients of all sources together, then of each group."""
        return torch.nn.functional.pad(self.groups.centre, (0, 0, 1, 0))

    @cached_property
    def covariance(self) -> Float[Tensor, "A R R"]:
        """Covariance of the coefficients of all sources together, then of each group."""
        spread = self.groups.spread
        eye = torch.eye(self.rank, dtype=spread.dtype, device=spread.device)
        return torch.cat([eye[None], spread @ spread.mT])

    @cached_property
    def _at_z(self) -> Float[Tensor, "R Z"]:
        return self._computed(self.z[None])[0][0]

    @cached_property
    def _far(self) -> Float[Tensor, "1 R 1"]:
        """Mean and features far from the inducing points."""
        return torch.nn.functional.pad(self.level.view(1, 1, 1), (0, 0, 0, self.rank))

    @cached_property
    def _at_grids(self) -> AtGrids:
        return AtGrids(lambda x: self._computed(x)[0])

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


def level_of(values: Float[Tensor, " Z"], inverse: Float[Tensor, "Z Z"]) -> Float[Tensor, ""]:
    """Return the likeliest constant mean of a Gaussian process with these values.

    It is a weighted average, by generalized least squares: points close together count as one.
    Since weights may be negative, it can lie outside of the values. `inverse` is that of their
    covariance.
    """
    weight = inverse.sum(0)
    return weight @ values / weight.sum()


def weights_of(
    values: Float[Tensor, "R Z"], level: Float[Tensor, ""], inverse: Float[Tensor, "Z Z"]
) -> Float[Tensor, "R Z"]:
    """Return the weights of mean and features with these values, the mean's without its level."""
    # Subtracted first: the inverse has large entries, which magnify rounding.
    return torch.cat([values[:1] - level, values[1:]]) @ inverse
