"""A scattered candidate set: points everywhere, and clouds around the best observations."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction
from metabo.domain import sobol
from metabo.policies.searchers.base import for_all
from metabo.policies.searchers.candidates import Candidates, Near, best, evaluate, within
from metabo.shapes import Float
from metabo.state import BOState, History

_TABLED = 10
"""Dimensions up to which the neighbours of a grid are kept in a table."""


@dataclass(frozen=True)
class Scatter:
    """A Sobol grid, and clouds around the best observations that get denser towards them.

    The set does not depend on the AF, so it is cheap to train on; and the clouds let a run close
    in on an optimum to any precision, which a grid alone does not.
    """

    n_global: int = 300
    """Points of the grid."""
    n_cloud: int = 32
    """Points around each of the best observations."""
    k_cloud: int = 3
    """Observations with a cloud, no two of them close together."""
    decades: float = 3.0
    """How many powers of ten the cloud's points come closer to its centre than 0.2."""

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """The clouds, then the grid, scored."""
        return evaluate(state, af, torch.cat([self.clouds(state), self.grid(state)], 1))

    def grid(self, state: BOState) -> Float[Tensor, "E N D"]:
        """The grid, for every episode."""
        points = stretched_sobol(self.n_global, state.gp.prior.dim, state.gp.x.device)
        return for_all(points, state)

    def clouds(self, state: BOState) -> Float[Tensor, "E N D"]:
        """The clouds one after the other; none before the first observation."""
        return self.around(state.history)

    def around(self, history: History) -> Float[Tensor, "E N D"]:
        """The clouds around the best of these observations, the best one's first."""
        x, y = history.x, history.y
        if not x.shape[1] or not self.k_cloud:
            return x[:, :0]
        index = best(y, self.k_cloud, within(x, 0.1))[..., None].expand(-1, -1, x.shape[-1])
        centres = x.gather(1, index)[:, :, None]  # E K 1 D
        draws = sobol(self.n_cloud, x.shape[-1] + 1, x.device)
        reach = 0.2 * 10 ** (-self.decades * draws[:, :1])  # log-uniform
        offsets = (2 * draws[:, 1:] - 1) * reach
        return (centres + offsets).clamp(0, 1).flatten(1, 2)


@lru_cache(maxsize=16)
def stretched_sobol(n: int, dim: int, device: torch.device) -> Float[Tensor, "N D"]:
    """Sobol points reaching the faces of the cube.

    Sobol points never lie on the faces and corners of the cube, where an AF often has its maximum.
    Stretching them about the centre by a tenth and clipping puts one in eleven on the faces of
    each axis.
    """
    return (0.5 + 1.1 * (sobol(n, dim, device) - 0.5)).clamp(0, 1)


@lru_cache(maxsize=16)
def grid_neighbours(n: int, dim: int, device: torch.device) -> Near:
    """Which points of a stretched grid are closer to a chosen one than its spacing.

    In few dimensions, where thousands of episodes run side by side, it is looked up in a table.
    """
    points, spacing = stretched_sobol(n, dim, device), n ** (-1 / dim)
    if dim > _TABLED:
        return within(points[None], spacing)
    table = torch.cdist(points, points, p=torch.inf) < spacing
    return lambda index: table[index]
