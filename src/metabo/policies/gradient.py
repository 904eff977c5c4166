"""Gradient search: a coarse look everywhere, then quasi-Newton ascent from the best places."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction, climbable
from metabo.ascent import ascend
from metabo.domain import sobol
from metabo.policies.candidates import Candidates, best, evaluate
from metabo.policies.search import for_all
from metabo.shapes import Bool, Float
from metabo.state import BOState


@dataclass(frozen=True)
class GradientRefine:
    """A Sobol grid and clouds around the best observations, then batched projected ascent.

    The clouds are there for late steps, when the AF is a spike beside an observation that no
    coarse grid can hit. The candidate set is the points reached, then all points looked at.
    """

    n_global: int = 300
    """Points of the grid."""
    k_global: int = 4
    """Climbs from the grid, no two from neighbouring points."""
    n_cloud: int = 32
    """Points around each of the best observations."""
    k_cloud: int = 3
    """Observations with a cloud, no two of them close together; one climb starts from each."""
    iterations: int = 12
    """Gradients per climb."""
    radius: float = 0.1
    """Longest first step of a climb, in lengthscales of the GP."""

    @classmethod
    def sized(cls, dim: int) -> "GradientRefine":
        """More points and longer climbs in more dimensions."""
        return cls(n_global=150 * max(dim, 2), iterations=8 + 2 * max(dim, 2))

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """The points reached, then the points looked at."""
        dim, device = state.gp.prior.dim, state.gp.x.device
        points, near = _grid(self.n_global, dim, device)
        looked = evaluate(state, af, for_all(points, state))
        starts = looked.take(best(looked.score, self.k_global, near))
        if state.n_observed and self.k_cloud:
            cloud = evaluate(state, af, self._clouds(state))
            first = torch.arange(0, cloud.score.shape[1], self.n_cloud, device=device)
            tops = cloud.score.unflatten(1, (-1, self.n_cloud)).argmax(-1) + first  # E K
            starts, looked = starts.then(cloud.take(tops)), looked.then(cloud)

        def climb(x: Tensor) -> Tensor:
            return climbable(af)(state.belief(x))

        corner = torch.zeros(dim, dtype=points.dtype, device=device)
        reached, _ = ascend(
            climb,
            starts.belief.x,
            lower=corner,
            upper=corner + 1,
            # What the GP calls far is what the AF calls far: in lengthscales its humps are about
            # round.
            unit=state.gp.prior.lengthscale[:, None, :],
            iterations=self.iterations,
            radius=self.radius,
        )
        return evaluate(state, af, reached).then(looked)

    def _clouds(self, state: BOState) -> Float[Tensor, "E N D"]:
        """Points around the best observations, ever denser towards them."""
        x, y = state.history.x, state.history.y
        near = torch.cdist(x, x, p=torch.inf) < 0.1  # E t t
        index = best(y, self.k_cloud, near)[..., None].expand(-1, -1, x.shape[-1])
        centres = x.gather(1, index)[:, :, None]  # E K 1 D
        draws = sobol(self.n_cloud, x.shape[-1] + 1, x.device)
        reach = 0.2 * 10 ** (-3 * draws[:, :1])  # log-uniform from 0.2 to 0.0002
        offsets = (2 * draws[:, 1:] - 1) * reach
        return (centres + offsets).clamp(0, 1).flatten(1, 2)


@lru_cache(maxsize=16)
def _grid(
    n: int, dim: int, device: torch.device
) -> tuple[Float[Tensor, "N D"], Bool[Tensor, "1 N N"]]:
    """The global grid, and which of its points are so close that one climb serves both.

    Sobol points never lie on the faces and corners of the cube, where an AF often has its maximum.
    Stretching them about the centre by a tenth and clipping puts one in eleven on the faces of
    each axis.
    """
    points = (0.5 + 1.1 * (sobol(n, dim, device) - 0.5)).clamp(0, 1)
    return points, (torch.cdist(points, points, p=torch.inf) < n ** (-1 / dim))[None]
