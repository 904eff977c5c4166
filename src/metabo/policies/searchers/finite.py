"""Search of a finite domain: every point is scored."""

from dataclasses import dataclass, replace

import torch

from metabo.acquisition import AcquisitionFunction
from metabo.domain import Finite
from metabo.policies.searchers.base import for_all, queried
from metabo.policies.searchers.candidates import Candidates, evaluate
from metabo.state import BOState


@dataclass(frozen=True)
class Enumerate:
    """Scores every point of a finite domain: its maximum is exact."""

    domain: Finite
    repeats: bool = True
    """Whether a point may be queried again. Where values have no noise nothing is learned so."""

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """All points of the domain; those that are ruled out have the score minus infinity."""
        points = self.domain.points.to(state.gp.x)
        found = evaluate(state, af, for_all(points, state))
        if self.repeats:
            return found
        seen = queried(found.belief.x, state.history)
        # When every point is used up, all of them count again.
        ruled_out = seen & ~seen.all(-1, keepdim=True)
        return replace(found, score=found.score.masked_fill(ruled_out, -torch.inf))
