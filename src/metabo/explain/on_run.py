"""Explanation of a learned AF on an ask/tell run, whichever policy made its queries."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from metabo.errors import DataError, OptionError
from metabo.explain.on_tasks import (
    Episode,
    Explanation,
    chosen_steps,
    place,
    require_fit,
    spread,
    usual_places,
)
from metabo.explain.plane import planes
from metabo.explain.trace import Decision, slice_axes, trace
from metabo.gp import Prior
from metabo.optimizer import Optimizer
from metabo.optimizer.evaluation import model_values
from metabo.optimizer.surrogate import PriorName
from metabo.policies import SearchName, in_space
from metabo.pretrained import TrainedAF, load
from metabo.state import BOState


def explain_run(
    artifact: str | Path,
    run: str | Path | Optimizer,
    *,
    steps: Sequence[int] | Literal["all"] | None = None,
    at: Sequence[Sequence[float]] | None = None,
    search: SearchName = "gradient",
) -> Explanation:
    """Explain the steps of a run from the point of view of an AF, with the run's own GP.

    Args:
        artifact: Name or file of the AF; it need not be the one that made the queries.
        run: A journal, which may be in use elsewhere, or an `Optimizer`, with at least one
            evaluation told.
        steps: Steps to show, numbered from 1, or `all`; the first four and the last if None.
        at: Points of the unit cube at which to draw the mean-deviation plane; its midpoint and the
            best point of the run if None.
        search: Finds the points where EI is large, among which each query is ranked.

    Returns:
        Beliefs and scores at each step, as data.

    Raises:
        DataError: If the run has no evaluations, or the journal cannot be read.
        OptionError: If an option is out of range, or all parameters are `Choice`s.
        ShapeError: If the AF was trained for another dimension.

    Examples:
        >>> import metabo
        >>> optimizer = metabo.Optimizer(
        ...     metabo.Space({"x": metabo.Float(0, 1), "y": metabo.Float(0, 1)}), budget=5, af="ei"
        ... )
        >>> optimizer.tell({"x": 0.2, "y": 0.7}, 1.0)
        >>> explanation = explain_run("branin", optimizer)
        >>> explanation.headline, len(explanation.episodes[0].steps)
        ('branin on the run', 1)
    """
    af = load(artifact)
    optimizer = run if isinstance(run, Optimizer) else Optimizer.open(run, read_only=True)
    where = "the run" if isinstance(run, Optimizer) else Path(run).name
    space = optimizer.space
    require_fit(af, str(artifact), space.dim, where)
    if not optimizer.n_told:
        raise DataError(f"No evaluation was told in {where}, so there is no step to explain.")
    if not slice_axes(space):
        raise OptionError(
            f"All parameters of {where} are `Choice`s, but an explanation needs a numeric "
            "parameter to draw along."
        )
    chosen = chosen_steps(steps, optimizer.n_told)
    again = _begun_again(optimizer, af)
    made = decisions(optimizer, again)
    few = optimizer.configurations
    domain, found = in_space(search, space, None if few is None else few.domain)
    places = usual_places(made) if at is None else [place(point, space.dim) for point in at]
    return Explanation(
        artifact=str(artifact),
        where=where,
        space=space,
        values=_values(again),
        episodes=(
            Episode(
                f"{optimizer.n_told} of {optimizer.budget} evaluations",
                trace(af, made, domain=domain, search=found, space=space, steps=chosen),
            ),
        ),
        planes=planes(af, made, steps=spread(chosen), at=places),
    )


def decisions(optimizer: Optimizer, again: Optimizer) -> list[Decision]:
    """Reconstruct the state of a run before each evaluation, and the value that followed.

    Args:
        optimizer: The run.
        again: A run with the same settings and no evaluations; the evaluations are replayed in it.
    """
    made = []
    sign = -1.0 if optimizer.direction == "minimize" else 1.0
    for one in optimizer.history:
        state, value = again.state, math.nan if one.value is None else sign * one.value
        if _is_fitted(again):
            value = _standardized(state, again, value)
        made.append(Decision(state, one.point[0], value, one.value))
        again.take_up([one])
    return made


def _begun_again(optimizer: Optimizer, af: TrainedAF) -> Optimizer:
    """Return the run before its first evaluation; random search, without a GP, gets the AF's."""
    prior: Prior | PriorName = "fitted" if _is_fitted(optimizer) else optimizer.prior
    if _prior_kind(optimizer) == "unused":
        prior = af.prior if af.prior.dim == optimizer.space.dim else "fitted"
    return Optimizer(
        optimizer.space,
        budget=optimizer.budget,
        af=optimizer.policy,
        direction=optimizer.direction,
        prior=prior,
    )


def _prior_kind(optimizer: Optimizer) -> object:
    record = optimizer.settings["prior"]
    return record.get("kind") if isinstance(record, dict) else None


def _is_fitted(optimizer: Optimizer) -> bool:
    return _prior_kind(optimizer) == "fitted"


def _values(optimizer: Optimizer) -> str:
    """Label the model's values; with a fitted prior they have mean 0 and deviation 1."""
    sign = "-" if optimizer.direction == "minimize" else ""
    return f"{sign}value, scaled" if _is_fitted(optimizer) else f"{sign}value"


def _standardized(state: BOState, optimizer: Optimizer, value: float) -> float:
    """Convert a value to the state's scale; NaN until two different values are known."""
    told = model_values(list(optimizer.history), optimizer.direction)
    if len(set(told)) < 2:
        return math.nan
    seen = state.history.y[0].tolist()
    low, high = told.index(min(told)), told.index(max(told))
    slope = (seen[high] - seen[low]) / (told[high] - told[low])
    return seen[low] + slope * (value - told[low])
