"""Where an episode may query: the unit cube, or a finite set of points in it."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from metabo.devices import is_capturing
from metabo.errors import DomainError, ShapeError
from metabo.shapes import Float


@dataclass(frozen=True)
class Box:
    """The unit cube [0, 1]^D."""

    dim: int

    def __post_init__(self) -> None:
        """Check the dimension."""
        if self.dim < 1:
            raise ShapeError(f"A `Box` needs at least one dimension, but got {self.dim}.")


@dataclass(frozen=True, eq=False)
class Finite:
    """A finite set of points in the unit cube, each of which can be scored."""

    points: Float[Tensor, "N D"]

    def __post_init__(self) -> None:
        """Check the points where the set enters."""
        if self.points.ndim != 2 or not self.points.numel():
            raise ShapeError(
                "A `Finite` domain needs points of shape N D, at least one, but got shape "
                f"{tuple(self.points.shape)}."
            )
        # A graph that is being recorded cannot wait for a value; its points were checked before.
        if not is_capturing(self.points):
            require_inside(self.points)

    @property
    def dim(self) -> int:
        """Number of input dimensions."""
        return self.points.shape[-1]


Domain = Box | Finite


@lru_cache(maxsize=64)
def sobol(
    n: int, dim: int, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float64
) -> Float[Tensor, "N D"]:
    """The first `n` Sobol points of the unit cube, starting at its centre.

    torch's sequence starts at the corner 0, which carries no information and would put the first
    design of every run on the border; it is skipped, here and nowhere else. The result is shared:
    do not write to it.
    """
    engine = torch.quasirandom.SobolEngine(dim, scramble=False)
    return engine.draw(n + 1, dtype=dtype)[1:].to(device)


@lru_cache(maxsize=64)
def lattice(
    per_axis: int, dim: int, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float64
) -> Float[Tensor, "N D"]:
    """The lattice of `per_axis`^D points with the cube's faces. Shared: do not write to it."""
    axis = torch.linspace(0, 1, per_axis, dtype=dtype, device=device)
    axes = torch.meshgrid(*[axis] * dim, indexing="ij")
    return torch.stack([a.reshape(-1) for a in axes], -1)


def require_inside(x: Float[Tensor, "... D"]) -> None:
    """Raise unless every coordinate lies in [0, 1]; NaN lies nowhere."""
    inside = ((x >= 0) & (x <= 1)).all(-1)
    if not bool(inside.all()):
        point = x[~inside][0].tolist()
        raise DomainError(
            f"A point must lie in the unit cube [0, 1]^{x.shape[-1]}, but got {point}. "
            "Map native parameters to the cube first, for example with `metabo.Space`."
        )


def require_dim(x: Float[Tensor, "... D"], dim: int) -> None:
    """Raise unless the last axis is the domain's dimension."""
    if x.shape[-1] != dim:
        raise ShapeError(
            f"`x` must end in an axis of size {dim} (the domain's dimension), but got shape "
            f"{tuple(x.shape)}."
        )
