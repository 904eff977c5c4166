"""Beliefs and scores at each step of a finished run, reconstructed by replaying it.

A step has the number of the evaluation it decides, from 1: step t has seen t - 1 observations.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction, LogEI, OnLearned
from metabo.domain import Box, Domain, lattice
from metabo.gp import Prior
from metabo.policies import Searcher
from metabo.policies.searchers.candidates import evaluate
from metabo.shapes import Float
from metabo.space import Choice, Space
from metabo.state import BOState

Truth = Callable[[Float[Tensor, "N D"]], Float[Tensor, " N"]]
"""Noise-free objective of one run."""

_LINE, _SQUARE, _SLICE = 1001, 81, 201
"""Points on an interval, along each side of a square, and on a slice."""


@dataclass(frozen=True)
class View:
    """Beliefs and scores at many points of an interval, a square, a table or a slice."""

    x: Float[Tensor, "N D"]
    """Points in the unit cube."""
    mean: Float[Tensor, " N"]
    """Posterior mean at each point."""
    std: Float[Tensor, " N"]
    """Posterior standard deviation at each point."""
    score: Float[Tensor, " N"]
    """Score of the learned AF at each point."""
    log_ei: Float[Tensor, " N"]
    """Logarithm of EI at each point, which is still ordered where EI underflows."""
    truth: Float[Tensor, " N"] | None
    """Noise-free objective at each point; None if it is unknown."""
    axis: int | None = None
    """Coordinate that varies in a slice; None if the points fill the domain."""
    per_side: int | None = None
    """Number of points along each side of a square, the last coordinate varying fastest."""


@dataclass(frozen=True)
class Decision:
    """One decision of a run: the state before it, the query, and the value that followed."""

    state: BOState
    """State of the run before the query."""
    query: Float[Tensor, " D"]
    """Point that was queried."""
    value: float
    """Value of the query in the scale of the state's values; NaN if there is none."""
    told: float | None
    """Value of the query as it was told; None if the evaluation failed."""


@dataclass(frozen=True)
class Step:
    """One decision of a run as it is shown: observations, beliefs, scores and the query."""

    number: int
    """Number of the step, from 1."""
    budget: int
    """Number of evaluations in the whole run."""
    seen_x: Float[Tensor, "t D"]
    """Points observed before the query."""
    seen_y: Float[Tensor, " t"]
    """Values observed before the query."""
    query: Float[Tensor, " D"]
    """Point that was queried."""
    value: float
    """Value of the query in the scale of the state's values; NaN if there is none."""
    told: float | None
    """Value of the query as it was told; None if the evaluation failed."""
    mean: float
    """Posterior mean at the query, before its evaluation."""
    std: float
    """Posterior standard deviation at the query, before its evaluation."""
    score: float
    """Score of the AF at the query, before its evaluation."""
    log_ei: float
    """Logarithm of EI at the query, before its evaluation."""
    ei_rank: int
    """Rank of the query by EI: 1 if no candidate of EI's own search has a larger EI."""
    ei_candidates: int
    """Number of candidates of EI's own search."""
    views: tuple[View, ...]
    """Beliefs and scores over the domain, or on slices through the incumbent."""
    guard: float | None = None
    """Weight of the plain prior before the evaluation; None if there is no learned one."""

    @property
    def heading(self) -> str:
        """Number of the step and, on a line of its own, the guard if there is one."""
        text = f"step {self.number} of {self.budget}"
        return text if self.guard is None else f"{text}\nguard {self.guard:.2f}"


def replay(
    prior: Prior, x: Float[Tensor, "t D"], y: Float[Tensor, " t"], *, budget: int
) -> list[Decision]:
    """Replay a run with a fixed prior, and return its decisions."""
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
    """Compute beliefs and scores at some steps of a run.

    Args:
        af: Acquisition function to score with; it need not be the one that made the queries.
        decisions: The run, as returned by `replay`.
        domain: Domain of the run.
        search: Finds the points where EI is large, among which the query is ranked.
        space: Parameters that the coordinates encode: points are projected to those that would be
            evaluated, and slices keep the value of a `Choice`.
        steps: Numbers of the steps, in 1..t.
        truth: Noise-free objective, if it is known.
    """
    where = _Where(domain, space, truth)
    return tuple(_step(af, decisions[t - 1], t, where, search) for t in steps)


@dataclass(frozen=True)
class _Where:
    """The points at which a run can be shown."""

    domain: Domain
    space: Space
    truth: Truth | None

    def points(self, through: Tensor) -> Iterable[tuple[int | None, int | None, Tensor]]:
        """Yield the whole domain in one or two dimensions, else a slice along each axis."""
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
    """Return the coordinates of numeric parameters; those of a `Choice` are left out."""
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
    ei = LogEI() if state.learned is None else OnLearned(LogEI())
    log_ei = float(ei(at.belief))
    rivals = search.candidates(state, ei).score[0]
    through = query if state.n_observed == 0 else state.history.x[0, state.history.y[0].argmax()]
    # A table has values only at its own points, which slices do not consist of.
    is_known = isinstance(where.domain, Box) or where.domain.dim <= 2
    return Step(
        number=number,
        budget=int(state.budget),
        seen_x=state.history.x[0],
        seen_y=state.history.y[0],
        query=query,
        value=made.value,
        told=made.told,
        mean=float(at.belief.decisive.mean),
        std=float(at.belief.decisive.std),
        guard=None if state.learned is None else float(state.guard),
        score=float(at.score),
        log_ei=log_ei,
        # Values of EI that agree to 1e-9 are ties, as in policies.
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
    belief = scored.belief.decisive
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
