"""Gradient search: a coarse look everywhere, then quasi-Newton ascent from the best places."""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction, climbable
from metabo.ascent import ascend
from metabo.policies.candidates import Candidates, best, evaluate
from metabo.policies.scatter import Scatter, stretched_sobol
from metabo.state import BOState


@dataclass(frozen=True)
class GradientRefine:
    """A Sobol grid and clouds around the best observations, then batched projected ascent.

    The clouds are there for late steps, when the AF is a spike beside an observation that no
    coarse grid can hit. The candidate set is the points reached, then all points looked at.
    """

    scatter: Scatter = Scatter()  # noqa: RUF009 (frozen)
    """Where to look first. One climb starts from the best point of each cloud."""
    k_global: int = 4
    """Climbs from the grid, no two from neighbouring points."""
    iterations: int = 12
    """Gradients per climb."""
    radius: float = 0.1
    """Longest first step of a climb, in lengthscales of the GP."""

    @classmethod
    def sized(cls, dim: int) -> "GradientRefine":
        """More points and longer climbs in more dimensions."""
        return cls(Scatter(n_global=150 * max(dim, 2)), iterations=8 + 2 * max(dim, 2))

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """The points reached, then the points looked at."""
        dim, device = state.gp.prior.dim, state.gp.x.device
        _, near = stretched_sobol(self.scatter.n_global, dim, device)
        looked = evaluate(state, af, self.scatter.grid(state))
        starts = looked.take(best(looked.score, self.k_global, near))
        clouds = self.scatter.clouds(state)
        if clouds.shape[1]:
            cloud = evaluate(state, af, clouds)
            size = self.scatter.n_cloud
            first = torch.arange(0, clouds.shape[1], size, device=device)
            tops = cloud.score.unflatten(1, (-1, size)).argmax(-1) + first  # E K
            starts, looked = starts.then(cloud.take(tops)), looked.then(cloud)

        def climb(x: Tensor) -> Tensor:
            return climbable(af)(state.belief(x))

        corner = torch.zeros(dim, dtype=starts.belief.x.dtype, device=device)
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
