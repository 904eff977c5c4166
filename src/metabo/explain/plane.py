"""An acquisition function over the mean-deviation plane.

A place and a moment of a run are held fixed; the posterior there is replaced by every mean and
deviation of a grid. All else that the AF looks at stays what it was in the run: the place, the
observations (and so the incumbent and the distance to the nearest of them), t and T.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.acquisition import AcquisitionFunction, LogEI, NeuralAF
from metabo.explain.trace import Decision
from metabo.shapes import Float
from metabo.state import Belief, BOState

_PLACES = frozenset({"x", "novelty"})
"""Features that differ between places of the same mean and deviation."""


@dataclass(frozen=True)
class Plane:
    """Scores over a grid of means and deviations, at one place and step."""

    number: int
    """The step t, from 1."""
    budget: int
    at: Float[Tensor, " D"] | None
    """The place; None where the AF does not look at it."""
    mean: Float[Tensor, " N"]
    std: Float[Tensor, " N"]
    score: Float[Tensor, "N N"]
    """Of the learned AF; a row for each deviation."""
    log_ei: Float[Tensor, "N N"]
    best: float
    """The incumbent value."""
    query: tuple[float, float]
    """Mean and deviation at the point that the run queried in this step."""


def looks_at_places(af: AcquisitionFunction) -> bool:
    """Whether points of the same mean and deviation may score differently."""
    return not isinstance(af, NeuralAF) or bool(_PLACES & set(af.architecture.features))


def planes(
    af: AcquisitionFunction,
    decisions: Sequence[Decision],
    *,
    steps: Iterable[int],
    at: Sequence[Float[Tensor, " D"]],
    n: int = 61,
) -> tuple[Plane, ...]:
    """The planes of a run's steps at each place, all on the same axes.

    Args:
        af: Whose scores are asked for.
        decisions: The run, such as `trace.replay` gives it.
        steps: Numbers in 1..t.
        at: The places; one of them is enough for an AF that does not look at them.
        n: Points along each side.
    """
    chosen = {t: decisions[t - 1] for t in steps}
    queries = {t: made.state.belief(made.query[None, None]) for t, made in chosen.items()}
    mean, std = _axes([made.state for made in chosen.values()], list(queries.values()), n)
    places = [*at] if looks_at_places(af) else [None]
    return tuple(
        _plane(af, made.state, t, place, mean, std, queries[t])
        for place in places
        for t, made in chosen.items()
    )


@torch.no_grad()
def _plane(
    af: AcquisitionFunction,
    state: BOState,
    number: int,
    place: Tensor | None,
    mean: Tensor,
    std: Tensor,
    query: Belief,
) -> Plane:
    n = len(mean)
    x = state.gp.prior.lengthscale.new_full((state.gp.prior.dim,), 0.5) if place is None else place
    belief = replace(
        state.belief(x.expand(1, n * n, -1)),
        mean=mean.repeat(n)[None],
        std=std.repeat_interleave(n)[None],
    )
    return Plane(
        number=number,
        budget=int(state.budget),
        at=place,
        mean=mean,
        std=std,
        score=af(belief).view(n, n),
        log_ei=LogEI()(belief).view(n, n),
        best=float(state.best),
        query=(float(query.mean), float(query.std)),
    )


def _axes(states: list[BOState], queries: list[Belief], n: int) -> tuple[Tensor, Tensor]:
    """Means around those observed and those queried, and deviations of the queries to the prior's.

    The GP may believe in other means far from its data; no query has met them.
    """
    means = torch.cat(
        [q.mean.flatten() for q in queries] + [s.history.y.flatten() for s in states]
    )
    low, high = float(means.min().clamp(max=0)), float(means.max())
    margin = 0.4 * (high - low) or 1.0
    most = float(states[0].gp.prior.signal_variance.max().sqrt())
    least = min(max(min(float(q.std) for q in queries), 1e-5 * most), 0.1 * most)
    mean = torch.linspace(low - margin, high + margin, n, dtype=torch.float64)
    std = torch.logspace(math.log10(least), math.log10(most), n, dtype=torch.float64)
    return mean, std
