"""Candidate points with their scores.

Points are scored in chunks, which stay in a CPU's cache and bound the memory on any device.

Scores within 1e-9 (relative) of the best count as ties. After a start at the midpoint, EI is the
same at all corners of the cube, and without this rule rounding would decide among them. The caller
chooses which of them wins: the lowest index (`first_best`), or a random one (`any_best`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction
from metabo.shapes import Float, Int
from metabo.state import Belief, BOState

Near = Callable[[Tensor], Tensor]
"""Map the index of one candidate per episode, `E`, to a mask of the candidates near it, `E N`."""

_TIE = 1e-9
"""Relative difference up to which scores count as equal."""
_LIMITS_CPU, _LIMITS_CUDA = (2**18, 2**13), (2**24, 2**22)
"""Covariances (E x t x N) and points (E x N) per chunk, on a CPU and on a GPU.

On a CPU that is 2 MB of covariances, about a core's cache, and few enough points for the layers of
a network to stay in it; on a GPU it is 128 MB of covariances, about the same at every step, so
that memory is reused.
"""
_LEAST = 32
"""Points per episode below which chunks are only made smaller to save memory."""


@dataclass(frozen=True)
class Candidates:
    """Points of each episode, the model's belief about them, and their scores."""

    belief: Belief
    """The points, and the model's belief about them."""
    score: Float[Tensor, "E N"]
    """Score of each point under the AF."""

    def take(self, index: Int[Tensor, "E n"]) -> "Candidates":
        """Return the candidates with these indices in each episode."""
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
        """Return these candidates followed by others of the same state."""
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
    # Counts all observations: the GP may see fewer of them, but an AF may use all.
    fitting = covariances // (state.n_episodes * max(1, state.n_observed))
    size = max(1, min(fitting, max(_LEAST, points // state.n_episodes)))
    # Allocate all results first: allocated one by one between the large temporary blocks of each
    # chunk, they would fragment the heap.
    mean, std, score = (x.new_empty(x.shape[:-1]) for _ in range(3))
    for start in range(0, x.shape[1], size):
        part = slice(start, start + size)
        belief = state.belief(x[:, part])
        mean[:, part], std[:, part], score[:, part] = belief.mean, belief.std, af(belief)
    belief = Belief(x, mean, std, state.best, state.history, state.step, state.budget)
    return Candidates(belief, score)


def first_best(score: Float[Tensor, "E N"]) -> Int[Tensor, " E"]:
    """Return the index of the best candidate, the lowest one among ties."""
    return _ties(score).byte().argmax(-1)


def any_best(score: Float[Tensor, "E N"], draw: Float[Tensor, "E 1"]) -> Int[Tensor, " E"]:
    """Return the index of the best candidate; a random number in (0, 1) chooses among ties."""
    rank = _ties(score).cumsum(-1)  # E N; counts the ties up to each candidate
    target = (draw * rank[:, -1:]).floor() + 1
    return (rank >= target).byte().argmax(-1)


def best(score: Float[Tensor, "E N"], k: int, near: Near | None = None) -> Int[Tensor, "E k"]:
    """Return the indices of the `k` best candidates, best first, ties by the lowest index.

    If `near` is given, candidates near one already chosen are skipped while there are others.
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
    """Return a function that finds the points within a radius of a chosen one.

    The distance of two points is the largest difference of their coordinates. Only distances from
    the chosen point are computed: all of them would take N x N numbers.
    """

    def near(index: Tensor) -> Tensor:
        own = points.expand(len(index), -1, -1)
        centre = own.gather(1, index[:, None, None].expand(-1, 1, points.shape[-1]))
        return (points - centre).abs().amax(-1) < radius

    return near


def _ties(score: Tensor) -> Tensor:
    best = score.amax(-1, keepdim=True)
    return score >= best - _TIE * best.abs()
