"""What a searcher is: from a state and an acquisition function to the points it favours."""

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction
from metabo.policies.searchers.candidates import Candidates
from metabo.shapes import Bool, Float
from metabo.state import BOState, History

SAME = 1e-12
"""Points no further apart are one: a logarithm's last digit may differ."""
_PAIRS = 2**22
"""Distances per episode at once, to bound the memory of long runs."""


@runtime_checkable
class Searcher(Protocol):
    """Finds the points that an AF favours."""

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """The candidate set of each episode, the best points found among it."""
        ...


def queried(x: Float[Tensor, "E N D"], history: History) -> Bool[Tensor, "E N"]:
    """Which of its points each episode has queried."""
    size = max(1, _PAIRS // max(1, history.x.shape[1]))
    parts = x.split(size, 1)
    seen = [(torch.cdist(part, history.x, p=torch.inf) <= SAME).any(-1) for part in parts]
    return torch.cat(seen, 1)


def for_all(points: Float[Tensor, "N D"], state: BOState) -> Float[Tensor, "E N D"]:
    """The same points for every episode."""
    return points.expand(state.n_episodes, -1, -1)
