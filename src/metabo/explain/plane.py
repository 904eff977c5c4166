"""An acquisition function over the mean-deviation plane.

At a fixed place and step of a run, the posterior is replaced by every mean and deviation of a
grid. All other inputs of the AF stay as they were in the run: the place, the observations (and
therefore the incumbent and the distance to the nearest observation), t and T.
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
"""Features that differ between places with the same mean and deviation."""


@dataclass(frozen=True)
class Plane:
    """Scores over a grid of means and deviations, at one place and step."""

    number: int
    """Number of the step, from 1."""
    budget: int
    """Number of evaluations in the whole run."""
    at: Float[Tensor, " D"] | None
    """Place in the unit cube; None if the AF does not depend on it."""
    mean: Float[Tensor, " N"]
    """Posterior means of the grid."""
    std: Float[Tensor, " N"]
    """Posterior standard deviations of the grid."""
    score: Float[Tensor, "N N"]
    """Scores of the learned AF, a row for each deviation."""
    log_ei: Float[Tensor, "N N"]
    """Logarithm of EI, a row for each deviation."""
    best: float
    """Incumbent value."""
    query: tuple[float, float]
    """Mean and deviation at the point that the run queried in this step."""


def looks_at_places(af: AcquisitionFunction) -> bool:
    """Tell whether points with the same mean and deviation may get different scores."""
    return not isinstance(af, NeuralAF) or bool(_PLACES & set(af.architecture.features))


def planes(
    af: AcquisitionFunction,
    decisions: Sequence[Decision],
    *,
    steps: Iterable[int],
    at: Sequence[Float[Tensor, " D"]],
    n: int = 61,
) -> tuple[Plane, ...]:
    """Compute the planes of a run's steps at each place, all on the same axes.

    Args:
        af: Acquisition function to score with.
        decisions: The run, as returned by `trace.replay`.
        steps: Numbers of the steps, in 1..t.
        at: Places in the unit cube; an AF that does not depend on them gets one plane per step.
        n: Number of points along each side.
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
    """Choose the range of means (observed and queried) and deviations (queries to prior).

    Far from its data the GP may predict other means, but no query was made there.
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
