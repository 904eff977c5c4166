"""Candidate points with their scores.

Points are scored in chunks, which stay in a CPU's cache and bound the memory on any device.

Scores within 1e-9 (relative) of the best count as ties. After a start at the midpoint, EI is the
same at all corners of the cube, and without this rule rounding would decide among them. The caller
chooses which of them wins: the lowest index (`first_best`), or a random one (`any_best`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction
from metabo.gp.grids import is_shared
from metabo.shapes import Float, Int
from metabo.state import Belief, BOState, LearnedView

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
        return Candidates(self.belief.take(index), self.score.gather(1, index))

    def then(self, other: "Candidates") -> "Candidates":
        """Return these candidates followed by others of the same state."""
        score = torch.cat([self.score, other.score], 1)
        return Candidates(self.belief.then(other.belief), score)


@torch.no_grad()
def evaluate(state: BOState, af: AcquisitionFunction, x: Float[Tensor, "E N D"]) -> Candidates:
    """Score the points `x`, chunk by chunk."""
    covariances, points = _LIMITS_CUDA if x.is_cuda else _LIMITS_CPU
    fitting = covariances // (state.n_episodes * _rows(state, x))
    size = max(1, min(fitting, max(_LEAST, points // state.n_episodes)))
    # Allocate all results first: allocated one by one between the large temporary blocks of each
    # chunk, they would fragment the heap.
    mean, std, score = (x.new_empty(x.shape[:-1]) for _ in range(3))
    view = None
    if state.learned is not None:
        view = LearnedView(torch.empty_like(mean), torch.empty_like(std), state.guard)
    for start in range(0, x.shape[1], size):
        part = slice(start, start + size)
        belief = state.belief(x[:, part])
        mean[:, part], std[:, part], score[:, part] = belief.mean, belief.std, af(belief)
        if view is not None and belief.learned is not None:
            view.mean[:, part], view.std[:, part] = belief.learned.mean, belief.learned.std
    belief = Belief(x, mean, std, state.best, state.history, state.step, state.budget, view)
    return Candidates(belief, score)


def evaluate_sets(
    state: BOState, af: AcquisitionFunction, *sets: Float[Tensor, "E _ D"]
) -> Candidates:
    """Score several sets of points, and return them in this order."""
    if state.learned is None:
        return evaluate(state, af, torch.cat(sets, 1))
    # One by one: joined, a set that all episodes share would become one copy per episode.
    first, *others = (evaluate(state, af, x) for x in sets if x.shape[1])
    for other in others:
        first = first.then(other)
    return first


def _rows(state: BOState, x: Tensor) -> int:
    """Return the number of covariances per point."""
    # Counts all observations: the GP may see fewer of them, but an AF may use all.
    rows = max(1, state.n_observed)
    if state.learned is None:
        return rows
    rows = rows * (2 + state.learned.cell.shape[1])
    # The features of points that episodes share are computed once.
    return rows if is_shared(x) else max(rows, len(state.learned.part.z))


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
