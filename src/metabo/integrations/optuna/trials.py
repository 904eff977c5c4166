"""The trials of a study as evaluations of metabo.

A trial that the sampler proposed carries its point of the unit cube as a system attribute, so that
the history read back from any storage is the proposed one to the last bit.
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
"""The system attribute."""
_ABOUT_TO_ASK = timedelta(minutes=1)
"""How long a running trial without any parameter is taken to be about to ask for some."""


@dataclass(frozen=True)
class Past:
    """What a trial that asks for parameters can know of the others."""

    told: tuple[Evaluation, ...]
    """Finished trials in the order of their numbers; failed ones have no value."""
    pending: tuple[Evaluation, ...]
    """Running trials whose parameters are known."""
    n_ahead: int
    """Running trials with lower numbers that seem to be asking at this moment."""


def past_of(trial: FrozenTrial, trials: Sequence[FrozenTrial], space: SearchSpace) -> Past:
    """What is known when `trial` asks for the parameters of a space.

    Trials without a value for each parameter, or with one out of bounds (enqueued ones may be),
    say nothing of the space and are left out.
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
    """The value to learn from: a pruned trial's last intermediate one; None where there is none.

    Infinite values count as none, as those of failed trials do.
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
