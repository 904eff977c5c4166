"""Classical methods on either prior: the family's plain one, or one learned from its sources."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Literal

from metabo.acquisition import AcquisitionFunction, OnLearned
from metabo.domain import Finite
from metabo.errors import OptionError
from metabo.evaluation.setting import Setting
from metabo.gp import LearnedPart
from metabo.options import declared_options
from metabo.policies import CLASSICAL, Informed, Maximize, Policy, StartAt
from metabo.sources import learned_prior

PriorName = Literal["plain", "learned"]


def on_prior(name: str) -> Callable[..., Policy]:
    """Return a builder of a classical method for a setting, with the options of its prior.

    On a learned prior there is no initial design, because the sources say where to start, unless
    the plain prior explained left-out sources better than what was learned from the others.
    """
    builder = CLASSICAL[name]

    def built(
        setting: Setting,
        *,
        prior: PriorName = "plain",
        M: int | None = None,
        N: int | None = None,
        guard: bool = True,
        **options: object,
    ) -> Policy:
        policy = builder(setting.family.domain, setting.search, **options)
        if prior == "plain":
            _require_unused(name, M=M, N=N, guard=None if guard else False)
            return policy
        part = _learned(setting, M, N)
        part = part if guard else part.unguarded()
        on_learned = Maximize(OnLearned(_af(policy)), setting.search)
        if isinstance(policy, StartAt) and float(part.cells.log_odds) > 0:
            return Informed(replace(policy, then=on_learned), part.to(setting.device))
        return Informed(on_learned, part.to(setting.device))

    if name == "random":  # has no model
        return _plain(builder)
    own = inspect.signature(built).parameters.values()
    parameters = [p for p in own if p.kind is not inspect.Parameter.VAR_KEYWORD]
    parameters += declared_options(builder).values()
    built.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    built.__doc__ = builder.__doc__
    return built


def _learned(setting: Setting, M: int | None, N: int | None) -> LearnedPart:
    """Return what M sources teach at N points: 50 functions as for TAF, or all of a table."""
    family = setting.family
    few = family.max_sources if isinstance(family.domain, Finite) else 50
    part = learned_prior(family, min(few, family.max_sources) if M is None else M, N).learned
    assert part is not None
    return part


def _af(policy: Policy) -> AcquisitionFunction:
    policy = policy.then if isinstance(policy, StartAt) else policy
    assert isinstance(policy, Maximize)
    return policy.af


def _require_unused(name: str, **given: object) -> None:
    for option, value in given.items():
        if value is not None:
            raise OptionError(
                f"Option `{option}` of method `{name}` is for a learned prior. Add "
                f"`prior=learned`, or leave out `{option}`."
            )


def _plain(builder: Callable[..., Policy]) -> Callable[..., Policy]:
    """Wrap a method without a model to take a `Setting`."""

    @wraps(builder)
    def built(setting: Setting, **options: object) -> Policy:
        return builder(setting.family.domain, setting.search, **options)

    return built
