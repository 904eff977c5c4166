"""A scattered candidate set: a global grid, and clouds around the best observations."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction
from metabo.domain import sobol
from metabo.policies.searchers.base import for_all
from metabo.policies.searchers.candidates import Candidates, Near, best, evaluate_sets, within
from metabo.shapes import Float
from metabo.state import BOState, History

_TABLED = 10
"""Number of dimensions up to which the neighbours of a grid are stored in a table."""


@dataclass(frozen=True)
class Scatter:
    """A Sobol grid, and clouds around the best observations that get denser towards them.

    The set does not depend on the AF, so it is cheap to train on. The clouds let a run converge to
    an optimum with any precision, which a grid alone does not.

    Examples:
        >>> from metabo.acquisition import EI
        >>> from metabo.gp import Prior
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> x, y = torch.full((1, 1, 1), 0.5).double(), torch.zeros(1, 1).double()
        >>> state = BOState.after(prior, x, y, budget=10)
        >>> Scatter(n_global=100, n_cloud=16).candidates(state, EI()).score.shape
        torch.Size([1, 116])
    """

    n_global: int = 300
    """Number of points of the grid."""
    n_cloud: int = 32
    """Number of points around each of the best observations."""
    k_cloud: int = 3
    """Number of observations with a cloud, no two of them close together."""
    decades: float = 3.0
    """Range of a cloud in powers of ten: its points reach from 0.2 to 0.2 * 10^-decades."""

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """Score the clouds, followed by the grid and what sources promise."""
        return evaluate_sets(state, af, self.clouds(state), self.grid(state), promising(state))

    def grid(self, state: BOState) -> Float[Tensor, "E N D"]:
        """Return the grid, repeated for every episode."""
        points = stretched_sobol(self.n_global, state.gp.prior.dim, state.gp.x.device)
        return for_all(points, state)

    def clouds(self, state: BOState) -> Float[Tensor, "E N D"]:
        """Return the clouds one after another; none before the first observation."""
        return self.around(state.history)

    def around(self, history: History) -> Float[Tensor, "E N D"]:
        """Return the clouds around the best of these observations, that of the best one first."""
        x, y = history.x, history.y
        if not x.shape[1] or not self.k_cloud:
            return x[:, :0]
        index = best(y, self.k_cloud, within(x, 0.1))[..., None].expand(-1, -1, x.shape[-1])
        centres = x.gather(1, index)[:, :, None]  # E K 1 D
        draws = sobol(self.n_cloud, x.shape[-1] + 1, x.device)
        reach = 0.2 * 10 ** (-self.decades * draws[:, :1])  # log-uniform
        offsets = (2 * draws[:, 1:] - 1) * reach
        return (centres + offsets).clamp(0, 1).flatten(1, 2)


def promising(state: BOState) -> Float[Tensor, "E N D"]:
    """Return the points where sources had their best values; none without a learned prior."""
    none = state.gp.x[:, :0]
    return none if state.learned is None else for_all(state.learned.part.promising, state)


@lru_cache(maxsize=16)
def stretched_sobol(n: int, dim: int, device: torch.device) -> Float[Tensor, "N D"]:
    """Return Sobol points that reach the faces of the cube.

    Sobol points never lie on the faces and corners of the cube, where an AF often has its maximum.
    Stretching them about the centre by 10 % and clipping them moves one point in eleven to the
    faces of each axis.
    """
    return (0.5 + 1.1 * (sobol(n, dim, device) - 0.5)).clamp(0, 1)


@lru_cache(maxsize=16)
def grid_neighbours(n: int, dim: int, device: torch.device) -> Near:
    """Return a function that finds the points of a stretched grid within its spacing of a point.

    In few dimensions, in which thousands of episodes run in parallel, it uses a table.
    """
    points, spacing = stretched_sobol(n, dim, device), n ** (-1 / dim)
    if dim > _TABLED:
        return within(points[None], spacing)
    table = torch.cdist(points, points, p=torch.inf) < spacing
    return lambda index: table[index]
