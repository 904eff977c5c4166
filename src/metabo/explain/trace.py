"""What a finished run believed and wanted at each step, by playing it again.

A step is numbered by the evaluation it decides, from 1: step t has seen t - 1 observations.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction, LogEI
from metabo.domain import Box, Domain, lattice
from metabo.gp import Prior
from metabo.policies import Searcher
from metabo.policies.searchers.candidates import evaluate
from metabo.shapes import Float
from metabo.space import Choice, Space
from metabo.state import BOState

Truth = Callable[[Float[Tensor, "N D"]], Float[Tensor, " N"]]
"""The objective of one run, without noise."""

_LINE, _SQUARE, _SLICE = 1001, 81, 201
"""Points of an interval, points along each side of a square, points of a slice."""


@dataclass(frozen=True)
class View:
    """Beliefs and scores at many points: of an interval, a square, a table or a slice."""

    x: Float[Tensor, "N D"]
    mean: Float[Tensor, " N"]
    std: Float[Tensor, " N"]
    score: Float[Tensor, " N"]
    """Of the learned AF."""
    log_ei: Float[Tensor, " N"]
    """The logarithm of EI, which has an order where EI underflows."""
    truth: Float[Tensor, " N"] | None
    """None where the objective is not known."""
    axis: int | None = None
    """The coordinate that varies in a slice; None where the points fill the domain."""
    per_side: int | None = None
    """Points along each side of a square, the last coordinate varying fastest."""


@dataclass(frozen=True)
class Decision:
    """A moment of a run: all that was known, then the query and the value it gave."""

    state: BOState
    """Before the query."""
    query: Float[Tensor, " D"]
    value: float
    """In the scale of the state's values; NaN where there is none."""
    told: float | None
    """As it was given; None where the evaluation failed."""


@dataclass(frozen=True)
class Step:
    """One decision of a run: what was seen, what was believed, what was queried."""

    number: int
    """t, from 1."""
    budget: int
    seen_x: Float[Tensor, "t D"]
    seen_y: Float[Tensor, " t"]
    query: Float[Tensor, " D"]
    value: float
    told: float | None
    """What the query then gave, as in `Decision`."""
    mean: float
    std: float
    score: float
    log_ei: float
    """Posterior mean, deviation, the AF's score and log EI at the query, before it."""
    ei_rank: int
    """1 if no candidate of EI's own search has a larger EI than the query, else more."""
    ei_candidates: int
    views: tuple[View, ...]


def replay(
    prior: Prior, x: Float[Tensor, "t D"], y: Float[Tensor, " t"], *, budget: int
) -> list[Decision]:
    """The decisions of a run with a fixed prior."""
    state, made = BOState.start(prior, episodes=1, budget=budget), []
    for query, value in zip(x, y, strict=True):
        made.append(Decision(state, query, float(value), float(value)))
        state = state.observe(query[None], value[None])
    return made


def trace(
    af: AcquisitionFunction,
    decisions: Sequence[Decision],
    *,
    domain: Domain,
    search: Searcher,
    space: Space,
    steps: Iterable[int],
    truth: Truth | None = None,
) -> tuple[Step, ...]:
    """Look at some steps of a run.

    Args:
        af: Whose scores are asked for; it need not be the one that made the queries.
        decisions: The run, such as `replay` gives it.
        domain: Where it queried.
        search: Finds the points that EI favours, among which the query is ranked.
        space: What the coordinates stand for: points are looked at as they would be evaluated,
            and slices do not leave the value of a `Choice`.
        steps: Numbers in 1..t.
        truth: The objective, where it is known.
    """
    where = _Where(domain, space, truth)
    return tuple(_step(af, decisions[t - 1], t, where, search) for t in steps)


@dataclass(frozen=True)
class _Where:
    """Where a run may be looked at."""

    domain: Domain
    space: Space
    truth: Truth | None

    def points(self, through: Tensor) -> Iterable[tuple[int | None, int | None, Tensor]]:
        """The whole domain in one or two dimensions, else a slice along each axis."""
        dim, axes = self.domain.dim, slice_axes(self.space)
        if dim <= 2 and len(axes) == dim:
            if isinstance(self.domain, Box):
                n = _LINE if dim == 1 else _SQUARE
                yield None, None if dim == 1 else n, self.space.project(lattice(n, dim))
            else:
                points = self.domain.points
                yield None, None, points.sort(0).values if dim == 1 else points
            return
        for axis in axes:
            points = through.repeat(_SLICE, 1)
            points[:, axis] = torch.linspace(0, 1, _SLICE, dtype=points.dtype)
            yield axis, None, self.space.project(points)


def slice_axes(space: Space) -> list[int]:
    """The coordinates that are numbers; those of a `Choice` are not."""
    axes, first = [], 0
    for parameter in space.parameters.values():
        axes += [] if isinstance(parameter, Choice) else [first]
        first += parameter.n_coordinates
    return axes


def _step(
    af: AcquisitionFunction, made: Decision, number: int, where: _Where, search: Searcher
) -> Step:
    state, query = made.state, made.query
    at = evaluate(state, af, query[None, None])
    log_ei = float(LogEI()(at.belief))
    rivals = search.candidates(state, LogEI()).score[0]
    through = query if state.n_observed == 0 else state.history.x[0, state.history.y[0].argmax()]
    # A table knows its values at its own points only, and slices leave them.
    is_known = isinstance(where.domain, Box) or where.domain.dim <= 2
    return Step(
        number=number,
        budget=int(state.budget),
        seen_x=state.history.x[0],
        seen_y=state.history.y[0],
        query=query,
        value=made.value,
        told=made.told,
        mean=float(at.belief.mean),
        std=float(at.belief.std),
        score=float(at.score),
        log_ei=log_ei,
        # EIs that agree to 1e-9 are ties, as they are to policies.
        ei_rank=1 + int((rivals > log_ei + 1e-9).sum()),
        ei_candidates=len(rivals),
        views=tuple(
            _view(af, state, points, where.truth if is_known else None, axis, per_side)
            for axis, per_side, points in where.points(through)
        ),
    )


def _view(
    af: AcquisitionFunction,
    state: BOState,
    points: Tensor,
    truth: Truth | None,
    axis: int | None,
    per_side: int | None,
) -> View:
    scored = evaluate(state, af, points[None])
    belief = scored.belief
    return View(
        x=points,
        mean=belief.mean[0],
        std=belief.std[0],
        score=scored.score[0],
        log_ei=LogEI()(belief)[0],
        truth=None if truth is None else truth(points),
        axis=axis,
        per_side=per_side,
    )
