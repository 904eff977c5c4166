"""The trials of a study as evaluations of metabo.

The sampler stores the proposed point of the unit cube as a system attribute of the trial, so that
the history read from any storage has exactly the proposed points.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import torch
from optuna.trial import FrozenTrial, TrialState

from metabo.integrations.optuna.distributions import SearchSpace
from metabo.optimizer import Evaluation
from metabo.shapes import Float

POINT = "metabo:x"
"""Name of the system attribute that holds the proposed point."""
_ABOUT_TO_ASK = timedelta(minutes=1)
"""Time during which a running trial without parameters is assumed to be about to ask."""


@dataclass(frozen=True)
class Past:
    """The other trials of a study, as a trial that asks for parameters sees them."""

    told: tuple[Evaluation, ...]
    """Finished trials in the order of their numbers; failed ones have no value."""
    pending: tuple[Evaluation, ...]
    """Running trials whose parameters are known."""
    n_ahead: int
    """Number of running trials with lower numbers that seem to be asking at this moment."""


def past_of(trial: FrozenTrial, trials: Sequence[FrozenTrial], space: SearchSpace) -> Past:
    """Collect what is known when `trial` asks for the parameters of a space.

    Trials that lack a parameter, or have one out of bounds (enqueued trials may), are left out.
    """
    told, pending, n_ahead = list[Evaluation](), list[Evaluation](), 0
    for other in sorted(trials, key=lambda one: one.number):
        if other.number == trial.number or other.state == TrialState.WAITING:
            continue
        evaluation = _evaluation(other, space)
        if other.state == TrialState.RUNNING:
            if evaluation is not None:
                pending.append(evaluation)
            elif other.number < trial.number and _is_about_to_ask(other):
                n_ahead += 1
        elif evaluation is not None:
            told.append(evaluation)
    return Past(tuple(told), tuple(pending), n_ahead)


def value_of(trial: FrozenTrial) -> float | None:
    """Return the value to learn from, or None; for a pruned trial, its last intermediate value.

    An infinite value counts as a failure.
    """
    value = None
    if trial.state == TrialState.COMPLETE:
        value = trial.value
    elif trial.state == TrialState.PRUNED and trial.last_step is not None:
        value = trial.intermediate_values[trial.last_step]
    return value if value is not None and math.isfinite(value) else None


def _evaluation(trial: FrozenTrial, space: SearchSpace) -> Evaluation | None:
    cube, proposed = space.space, _proposed(trial, space)
    if space.contains(trial.params):
        params = cube.clean(space.encode(trial.params))
        if proposed is not None and cube.decode(proposed) == params:
            x = proposed
        else:  # fixed by the user, or proposed by another sampler
            x = cube.encode(params)
    elif trial.state == TrialState.RUNNING and proposed is not None:
        params, x = cube.decode(proposed), proposed
    else:
        return None
    return Evaluation(params, value_of(trial), tuple(x.tolist()))


def _proposed(trial: FrozenTrial, space: SearchSpace) -> Float[torch.Tensor, " D"] | None:
    stored = trial.system_attrs.get(POINT)
    is_point = isinstance(stored, Iterable) and len(list(stored)) == space.space.dim
    return torch.tensor(list(stored), dtype=torch.float64) if is_point else None


def _is_about_to_ask(trial: FrozenTrial) -> bool:
    if trial.params or POINT in trial.system_attrs or trial.datetime_start is None:
        return False
    now = datetime.now(trial.datetime_start.tzinfo)
    return now - trial.datetime_start < _ABOUT_TO_ASK
