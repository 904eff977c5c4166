"""Exhaustive search of a finite domain."""

from dataclasses import dataclass, replace

import torch

from metabo.acquisition import AcquisitionFunction
from metabo.domain import Finite
from metabo.policies.searchers.base import for_all, queried
from metabo.policies.searchers.candidates import Candidates, evaluate
from metabo.state import BOState


@dataclass(frozen=True)
class Enumerate:
    """Exhaustive search: scores every point of a finite domain, so the maximum is exact."""

    domain: Finite
    """Points to score."""
    repeats: bool = True
    """Whether a point may be queried again, which is useless if values have no noise."""

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """Score all points of the domain; excluded points get the score minus infinity."""
        points = self.domain.points.to(state.gp.x)
        found = evaluate(state, af, for_all(points, state))
        if self.repeats:
            return found
        seen = queried(found.belief.x, state.history)
        # When every point has been queried, all of them are allowed again.
        ruled_out = seen & ~seen.all(-1, keepdim=True)
        return replace(found, score=found.score.masked_fill(ruled_out, -torch.inf))
