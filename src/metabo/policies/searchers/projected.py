"""Search in a space with discrete parameters: the AF scores the points that would be evaluated.

`Int` and `Choice` are projected before scoring. Seen from the cube, the AF is then constant within
a cell and has slopes in the real coordinates only. The search continues from the best points found
by changing one discrete parameter at a time.
"""

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction
from metabo.policies.searchers.base import SAME, Searcher, queried
from metabo.policies.searchers.candidates import Candidates, best, evaluate, within
from metabo.shapes import Float
from metabo.space import Space
from metabo.space.discrete import is_continuous, neighbours
from metabo.state import Belief, BeliefPullback, BOState


@dataclass(frozen=True)
class ProjectedState(BOState):
    """A state whose beliefs are those at the point that would be evaluated."""

    space: Space = field(kw_only=True)
    """Space whose points can be evaluated."""

    @classmethod
    def of(cls, state: BOState, space: Space) -> "ProjectedState":
        """Return the same runs with beliefs projected to the points of a space."""
        return cls(state.gp, state.step, state.budget, state.told, state.learned, space=space)

    def belief(self, x: Float[Tensor, "E N D"]) -> Belief:
        """Return the GP's belief about the projected points."""
        return super().belief(self.space.project(x))

    def belief_with_pullback(self, x: Float[Tensor, "E N D"]) -> tuple[Belief, BeliefPullback]:
        """Return the belief, and a pullback that is zero in discrete coordinates."""
        belief, pullback = super().belief_with_pullback(self.space.project(x))
        is_free = is_continuous(self.space).to(x.device)
        return belief, lambda *slopes: pullback(*slopes) * is_free


@dataclass(frozen=True)
class Projected:
    """Another search over projected points, then discrete moves from the best of them."""

    search: Searcher
    """Search of the unit cube."""
    space: Space
    """Space with discrete parameters."""
    k: int = 4
    """Number of different points from which to move."""
    rounds: int = 3
    """Number of moves, each to the best of all neighbours so far."""

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """Return the points moved to, followed by those that the search found.

        In a fully discrete space, points that were already queried get the score minus infinity.
        """
        found = self.search.candidates(ProjectedState.of(state, self.space), af)
        found = replace(found, belief=replace(found.belief, x=self.space.project(found.belief.x)))
        is_discrete = self.space.size is not None
        found = _without_seen(found) if is_discrete else found
        for _ in range(self.rounds):
            tried = evaluate(state, af, neighbours(self.space, self._best(found)))
            found = (_without_seen(tried) if is_discrete else tried).then(found)
        return found

    def _best(self, candidates: Candidates) -> Float[Tensor, "E K D"]:
        few = candidates.take(best(candidates.score, 4 * self.k))
        return few.take(best(few.score, self.k, within(few.belief.x, SAME))).belief.x


def _without_seen(candidates: Candidates) -> Candidates:
    """Set the score of points that were queried before to minus infinity."""
    is_seen = queried(candidates.belief.x, candidates.belief.history)
    return replace(candidates, score=candidates.score.masked_fill(is_seen, -torch.inf))
