"""The searcher protocol: a searcher finds the points where an acquisition function is large."""

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction
from metabo.policies.searchers.candidates import Candidates
from metabo.shapes import Bool, Float
from metabo.state import BOState, History

SAME = 1e-12
"""Distance up to which two points count as the same: the last digit of a logarithm may differ."""
_PAIRS = 2**22
"""Distances per episode to compute at once, which bounds the memory of long runs."""


@runtime_checkable
class Searcher(Protocol):
    """A search for the points where an AF is large."""

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """Return the scored candidate set of each episode, including the best points found."""
        ...


def queried(x: Float[Tensor, "E N D"], history: History) -> Bool[Tensor, "E N"]:
    """Tell which of the points `x` each episode has already queried.

    Examples:
        >>> from metabo.state import History
        >>> x = torch.tensor([[[0.1], [0.2]]], dtype=torch.float64)
        >>> queried(x, History(x[:, :1], torch.zeros(1, 1).double())).tolist()
        [[True, False]]
    """
    size = max(1, _PAIRS // max(1, history.x.shape[1]))
    parts = x.split(size, 1)
    seen = [(torch.cdist(part, history.x, p=torch.inf) <= SAME).any(-1) for part in parts]
    return torch.cat(seen, 1)


def for_all(points: Float[Tensor, "N D"], state: BOState) -> Float[Tensor, "E N D"]:
    """Repeat the points for every episode, without copying them.

    The stride of the episodes' axis is 0, even for a single episode: what is computed at such
    points can be kept (`metabo.gp.grids`).
    """
    return points.as_strided((state.n_episodes, *points.shape), (0, *points.stride()))
