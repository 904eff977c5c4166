"""What a finished run believed and wanted at each step, by playing it again.

A step is numbered by the evaluation it decides, from 1: step t has seen t - 1 observations.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction, LogEI
from metabo.domain import Box, Domain, lattice
from metabo.gp import Prior
from metabo.policies import Searcher
from metabo.policies.candidates import evaluate
from metabo.shapes import Float
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
class Step:
    """One decision of a run: what was seen, what was believed, what was queried."""

    number: int
    """t, from 1."""
    budget: int
    seen_x: Float[Tensor, "t D"]
    seen_y: Float[Tensor, " t"]
    query: Float[Tensor, " D"]
    value: float
    """Observed at the query, after the decision."""
    mean: float
    std: float
    score: float
    log_ei: float
    """Posterior mean, deviation, the AF's score and log EI at the query, before it."""
    ei_rank: int
    """1 if no candidate of EI's own search has a larger EI than the query, else more."""
    ei_candidates: int
    views: tuple[View, ...]

    @property
    def incumbent(self) -> Float[Tensor, " D"] | None:
        """The place of the best observation so far."""
        return self.seen_x[self.seen_y.argmax()] if len(self.seen_y) else None


def replay(
    prior: Prior, x: Float[Tensor, "t D"], y: Float[Tensor, " t"], *, budget: int
) -> list[BOState]:
    """The states of a run, before its first observation to after its last."""
    states = [BOState.start(prior, episodes=1, budget=budget)]
    for query, value in zip(x, y, strict=True):
        states.append(states[-1].observe(query[None], value[None]))
    return states


def trace(
    af: AcquisitionFunction,
    states: list[BOState],
    *,
    domain: Domain,
    search: Searcher,
    steps: Iterable[int],
    truth: Truth | None = None,
) -> tuple[Step, ...]:
    """Look at some steps of a run.

    Args:
        af: Whose scores are asked for; it need not be the one that made the queries.
        states: The run as `replay` gives it.
        domain: Where it queried.
        search: Finds the points that EI favours, among which the query is ranked.
        steps: Numbers in 1..t.
        truth: The objective, where it is known.
    """
    after = states[-1].history
    return tuple(
        _step(
            af, states[t - 1], after.x[0, t - 1], float(after.y[0, t - 1]), domain, search, truth
        )
        for t in steps
    )


def _step(
    af: AcquisitionFunction,
    state: BOState,
    query: Tensor,
    value: float,
    domain: Domain,
    search: Searcher,
    truth: Truth | None,
) -> Step:
    at = evaluate(state, af, query[None, None])
    log_ei = float(LogEI()(at.belief))
    rivals = search.candidates(state, LogEI()).score[0]
    through = query if state.n_observed == 0 else state.gp.x[0, state.gp.y[0].argmax()]
    return Step(
        number=state.n_observed + 1,
        budget=int(state.budget),
        seen_x=state.gp.x[0],
        seen_y=state.gp.y[0],
        query=query,
        value=value,
        mean=float(at.belief.mean),
        std=float(at.belief.std),
        score=float(at.score),
        log_ei=log_ei,
        # EIs that agree to 1e-9 are ties, as they are to policies.
        ei_rank=1 + int((rivals > log_ei + 1e-9).sum()),
        ei_candidates=len(rivals),
        views=tuple(_views(af, state, domain, through, truth)),
    )


def _views(
    af: AcquisitionFunction, state: BOState, domain: Domain, through: Tensor, truth: Truth | None
) -> Iterable[View]:
    """The whole domain in one or two dimensions, else a slice along each axis."""
    dim = domain.dim
    if dim <= 2:
        if isinstance(domain, Box):
            per_axis = _LINE if dim == 1 else _SQUARE
            yield _view(
                af, state, lattice(per_axis, dim), truth, per_side=None if dim == 1 else per_axis
            )
        else:
            points = domain.points.sort(0).values if dim == 1 else domain.points
            yield _view(af, state, points, truth)
        return
    # A table knows its values at its own points only, and slices leave them.
    known = truth if isinstance(domain, Box) else None
    for axis in range(dim):
        points = through.repeat(_SLICE, 1)
        points[:, axis] = torch.linspace(0, 1, _SLICE, dtype=points.dtype)
        yield _view(af, state, points, known, axis=axis)


def _view(
    af: AcquisitionFunction,
    state: BOState,
    points: Tensor,
    truth: Truth | None,
    *,
    axis: int | None = None,
    per_side: int | None = None,
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
