"""Candidate points with their scores.

Scoring is cut into chunks along the points, which stay in a CPU's cache and bound the memory on
any device.

Ties: scores that agree to 1e-9 of the best count as equal. After a start at the midpoint EI is the
same at all corners of the cube, and without this rule rounding would decide. Which of them wins is
up to the caller: the lowest index (`first_best`), or any with equal chance (`any_best`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction
from metabo.shapes import Float, Int
from metabo.state import Belief, BOState

Near = Callable[[Tensor], Tensor]
"""From the number of a candidate of each episode, `E`, to which candidates are near it, `E N`."""

_TIE = 1e-9
_LIMITS_CPU, _LIMITS_CUDA = (2**18, 2**13), (2**24, 2**22)
"""Covariances (E x t x N) and points (E x N) at once.

On a CPU that is 2 MB of covariances, about a core's cache, and few enough points for the layers of
a network to stay near it; on a device 128 MB of covariances, about the same at every step, so that
memory is used again.
"""
_LEAST = 32
"""Points per episode below which chunks are only cut to save memory."""


@dataclass(frozen=True)
class Candidates:
    """Points of each episode, what is believed about them, and their scores."""

    belief: Belief
    score: Float[Tensor, "E N"]

    def take(self, index: Int[Tensor, "E n"]) -> "Candidates":
        """The candidates with these numbers, episode by episode."""
        belief = self.belief
        rows = index[..., None].expand(-1, -1, belief.x.shape[-1])
        picked = replace(
            belief,
            x=belief.x.gather(1, rows),
            mean=belief.mean.gather(1, index),
            std=belief.std.gather(1, index),
        )
        return Candidates(picked, self.score.gather(1, index))

    def then(self, other: "Candidates") -> "Candidates":
        """These candidates followed by others of the same state."""
        mine, theirs = self.belief, other.belief
        joined = replace(
            mine,
            x=torch.cat([mine.x, theirs.x], 1),
            mean=torch.cat([mine.mean, theirs.mean], 1),
            std=torch.cat([mine.std, theirs.std], 1),
        )
        return Candidates(joined, torch.cat([self.score, other.score], 1))


@torch.no_grad()
def evaluate(state: BOState, af: AcquisitionFunction, x: Float[Tensor, "E N D"]) -> Candidates:
    """Score the points `x`, chunk by chunk."""
    covariances, points = _LIMITS_CUDA if x.is_cuda else _LIMITS_CPU
    # The GP may see fewer observations than there are; an AF may look at all of them.
    fitting = covariances // (state.n_episodes * max(1, state.n_observed))
    size = max(1, min(fitting, max(_LEAST, points // state.n_episodes)))
    # Room for all results first: kept one by one between the large blocks that come and go with
    # each chunk, they would cut the heap into pieces too small to be used again.
    mean, std, score = (x.new_empty(x.shape[:-1]) for _ in range(3))
    for start in range(0, x.shape[1], size):
        part = slice(start, start + size)
        belief = state.belief(x[:, part])
        mean[:, part], std[:, part], score[:, part] = belief.mean, belief.std, af(belief)
    belief = Belief(x, mean, std, state.best, state.history, state.step, state.budget)
    return Candidates(belief, score)


def first_best(score: Float[Tensor, "E N"]) -> Int[Tensor, " E"]:
    """The number of the best candidate, the lowest of those that tie."""
    return _ties(score).byte().argmax(-1)


def any_best(score: Float[Tensor, "E N"], draw: Float[Tensor, "E 1"]) -> Int[Tensor, " E"]:
    """The number of the best candidate; among ties, the one a draw from (0, 1) falls on."""
    rank = _ties(score).cumsum(-1)  # E N; counts the ties up to each candidate
    target = (draw * rank[:, -1:]).floor() + 1
    return (rank >= target).byte().argmax(-1)


def best(score: Float[Tensor, "E N"], k: int, near: Near | None = None) -> Int[Tensor, "E k"]:
    """The numbers of the `k` best candidates, best first, ties by the lowest number.

    With `near` given, a candidate near one already chosen is passed over while there are others.
    """
    remaining, chosen = score.clone(), []
    for _ in range(min(k, score.shape[-1])):
        index = first_best(remaining)
        chosen.append(index)
        if near is None:
            remaining.scatter_(1, index[:, None], -torch.inf)
        else:
            remaining.masked_fill_(near(index), -torch.inf)
    return torch.stack(chosen, 1)


def within(points: Float[Tensor, "#E N D"], radius: float) -> Near:
    """Which points are closer than a radius (largest coordinate) to a chosen one of each episode.

    Distances are found from the chosen point only: all of them would take N x N numbers.
    """

    def near(index: Tensor) -> Tensor:
        own = points.expand(len(index), -1, -1)
        centre = own.gather(1, index[:, None, None].expand(-1, 1, points.shape[-1]))
        return (points - centre).abs().amax(-1) < radius

    return near


def _ties(score: Tensor) -> Tensor:
    best = score.amax(-1, keepdim=True)
    return score >= best - _TIE * best.abs()
