"""The domain of an episode: the unit cube, or a finite set of points in it."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from metabo.devices import is_capturing
from metabo.errors import DomainError, ShapeError
from metabo.shapes import Float


@dataclass(frozen=True)
class Box:
    """The unit cube [0, 1]^D.

    Examples:
        >>> Box(3).dim
        3
    """

    dim: int
    """Number of input dimensions, at least 1."""

    def __post_init__(self) -> None:
        """Check the dimension."""
        if self.dim < 1:
            raise ShapeError(f"A `Box` needs at least one dimension, but got {self.dim}.")


@dataclass(frozen=True, eq=False)
class Finite:
    """A finite set of points in the unit cube, all of which can be scored.

    Examples:
        >>> Finite(torch.tensor([[0.0, 0.5], [1.0, 0.5]], dtype=torch.float64)).dim
        2
    """

    points: Float[Tensor, "N D"]
    """Points that may be queried, at least one."""

    def __post_init__(self) -> None:
        """Check that there are points and that they lie in the cube."""
        if self.points.ndim != 2 or not self.points.numel():
            raise ShapeError(
                "A `Finite` domain needs points of shape N D, at least one, but got shape "
                f"{tuple(self.points.shape)}."
            )
        # A CUDA graph cannot read values while it is recorded; its points were checked before.
        if not is_capturing(self.points):
            require_inside(self.points)

    @property
    def dim(self) -> int:
        """Number of input dimensions."""
        return self.points.shape[-1]


Domain = Box | Finite
"""The set of points that an episode may query."""


@lru_cache(maxsize=64)
def sobol(
    n: int, dim: int, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float64
) -> Float[Tensor, "N D"]:
    """Return the first `n` Sobol points of the unit cube, starting at its centre.

    torch's sequence starts at the corner 0, which carries no information and would put the first
    design of every run on the border; it is skipped, here and nowhere else.

    Returns:
        A cached tensor that callers share: do not write to it.

    Examples:
        >>> sobol(3, 2).tolist()
        [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    engine = torch.quasirandom.SobolEngine(dim, scramble=False)
    return engine.draw(n + 1, dtype=dtype)[1:].to(device)


@lru_cache(maxsize=64)
def lattice(
    per_axis: int, dim: int, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float64
) -> Float[Tensor, "N D"]:
    """Return the regular lattice of `per_axis`^D points, including the faces of the cube.

    Returns:
        A cached tensor that callers share: do not write to it.

    Examples:
        >>> lattice(2, 2).tolist()
        [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    axis = torch.linspace(0, 1, per_axis, dtype=dtype, device=device)
    axes = torch.meshgrid(*[axis] * dim, indexing="ij")
    return torch.stack([a.reshape(-1) for a in axes], -1)


def require_inside(x: Float[Tensor, "... D"]) -> None:
    """Raise `DomainError` unless every coordinate lies in [0, 1]; NaN does not."""
    inside = ((x >= 0) & (x <= 1)).all(-1)
    if not bool(inside.all()):
        point = x[~inside][0].tolist()
        raise DomainError(
            f"A point must lie in the unit cube [0, 1]^{x.shape[-1]}, but got {point}. "
            "Map native parameters to the cube first, for example with `metabo.Space`."
        )


def require_dim(x: Float[Tensor, "... D"], dim: int) -> None:
    """Raise `ShapeError` unless the last axis of `x` has size `dim`."""
    if x.shape[-1] != dim:
        raise ShapeError(
            f"`x` must end in an axis of size {dim} (the domain's dimension), but got shape "
            f"{tuple(x.shape)}."
        )
