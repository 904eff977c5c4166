"""Gradient search: a coarse global scan, then quasi-Newton ascent from the best points."""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction, climbable, slopes_of
from metabo.ascent import ascend
from metabo.policies.searchers.candidates import Candidates, best, evaluate, evaluate_sets
from metabo.policies.searchers.scatter import Scatter, grid_neighbours, promising
from metabo.state import BOState


@dataclass(frozen=True)
class GradientRefine:
    """A Sobol grid and clouds around the best observations, then batched projected ascent.

    The clouds serve late steps, when the AF is a spike next to an observation that no coarse grid
    can hit. The candidate set consists of the points reached, followed by all points scanned.
    """

    scatter: Scatter = Scatter()  # noqa: RUF009 (frozen)
    """Points to scan first; one climb starts from the best point of each cloud, and from that of
    each part of this size of the points that sources promise."""
    k_global: int = 6
    """Number of climbs from the grid, no two from neighbouring points."""
    iterations: int = 9
    """Number of gradients per climb."""
    radius: float = 0.1
    """Longest first step of a climb, in lengthscales of the GP."""

    @classmethod
    def sized(cls, dim: int) -> "GradientRefine":
        """Return a search whose points and climbs grow with the dimension, up to 20 dimensions.

        In 50 and 100 dimensions, the sizes for 20 find the same maxima to 1e-5 (of log EI and of
        the learned AF) as sizes that keep growing, in a half and a fifth of the time
        (`benchmarks/long_runs.py`).

        Examples:
            >>> GradientRefine.sized(3).scatter.n_global
            450
        """
        size = min(max(dim, 2), 20)
        return cls(Scatter(n_global=150 * size), iterations=5 + 2 * size)

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """Return the points reached, followed by the points scanned."""
        scatter, dim = self.scatter, state.gp.prior.dim
        looked = evaluate_sets(
            state, af, scatter.grid(state), scatter.clouds(state), promising(state)
        )
        starts = looked.belief.x.gather(1, self._starts(looked.score, dim))  # E K D
        slopes = slopes_of(climbable(af))

        def climb(x: Tensor) -> tuple[Tensor, Tensor]:
            belief, pullback = state.belief_with_pullback(x)
            at = slopes(belief)
            return at.score, pullback(*at[1:])

        reached, _ = ascend(
            climb,
            starts,
            lower=starts.new_zeros(dim),
            upper=starts.new_ones(dim),
            # The AF varies on the scale of the GP: in units of lengthscales its peaks are about
            # round.
            unit=state.gp.prior.lengthscale[:, None, :],
            iterations=self.iterations,
            radius=self.radius,
        )
        return evaluate(state, af, reached).then(looked)

    def _starts(self, score: Tensor, dim: int) -> Tensor:
        """Return the indices of the points to climb from, repeated for each dimension."""
        n, size = self.scatter.n_global, self.scatter.n_cloud
        apart = best(score[:, :n], self.k_global, grid_neighbours(n, dim, score.device))
        first = range(n, score.shape[1], size)
        highest = (score[:, i : i + size].argmax(-1, keepdim=True) + i for i in first)
        starts = torch.cat([apart, *highest], 1)  # E K
        return starts.unsqueeze(-1).expand(-1, -1, dim)
