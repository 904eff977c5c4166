"""Search in a space whose parameters are not all real: the AF judges what would be evaluated.

`Int` and `Choice` are projected before scoring. To whoever searches the cube, the AF is then
constant within a cell, with slopes in the real coordinates only; from the best points found, moves
in one discrete parameter at a time go on.
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
    """A state that sees at every point of the cube the one that would be evaluated."""

    space: Space = field(kw_only=True)

    @classmethod
    def of(cls, state: BOState, space: Space) -> "ProjectedState":
        """The same runs in a space."""
        return cls(state.gp, state.step, state.budget, state.told, space=space)

    def belief(self, x: Float[Tensor, "E N D"]) -> Belief:
        """The GP's view of the projected points."""
        return super().belief(self.space.project(x))

    def belief_with_pullback(self, x: Float[Tensor, "E N D"]) -> tuple[Belief, BeliefPullback]:
        """The view, and derivatives that are zero in discrete coordinates."""
        belief, pullback = super().belief_with_pullback(self.space.project(x))
        is_free = is_continuous(self.space).to(x.device)
        return belief, lambda mean, std, x: pullback(mean, std, x) * is_free


@dataclass(frozen=True)
class Projected:
    """What another search finds among projected points, then discrete moves from the best."""

    search: Searcher
    space: Space
    k: int = 4
    """Different points from which to move."""
    rounds: int = 3
    """Moves, each to the best of all neighbours so far."""

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """The points moved to, then those the search found; none was queried, if that is rare."""
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
    """The candidates, with a score of -inf where the point was queried before."""
    is_seen = queried(candidates.belief.x, candidates.belief.history)
    return replace(candidates, score=candidates.score.masked_fill(is_seen, -torch.inf))
