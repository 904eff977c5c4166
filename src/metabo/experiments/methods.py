"""The methods by name. A method's options are its builder's keyword parameters."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from metabo.acquisition import EI, PI, UCB, AcquisitionFunction, LogEI
from metabo.domain import Box
from metabo.errors import unknown
from metabo.options import build, parse
from metabo.policies import Maximize, Policy, RandomSearch, Searcher, StartAt
from metabo.tasks import TaskFamily


def method(text: str, family: TaskFamily, search: Searcher) -> Policy:
    """The policy of a method given as text, such as `ei` or `ucb:beta=9`."""
    name, options = parse(text)
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    return build(f"method `{name}`", partial(METHODS[name], family, search), options)


def _from_midpoint(af: AcquisitionFunction, family: TaskFamily, search: Searcher) -> Policy:
    """Maximize the AF after a first query at the midpoint, the paper's initial design.

    On a finite domain there is no initial design, as in the paper: the first query is any of the
    tied candidates.
    """
    policy = Maximize(af, search)
    return StartAt(0.5, policy, family.domain) if isinstance(family.domain, Box) else policy


def _ei(family: TaskFamily, search: Searcher) -> Policy:
    """Expected improvement."""
    return _from_midpoint(EI(), family, search)


def _logei(family: TaskFamily, search: Searcher) -> Policy:
    """Logarithm of expected improvement: the same maxima, found where EI underflows."""
    return _from_midpoint(LogEI(), family, search)


def _pi(family: TaskFamily, search: Searcher, *, xi: float = 0.01) -> Policy:
    """Probability of improvement by at least `xi` (0.01 beats 0 on all benchmark families)."""
    return _from_midpoint(PI(xi), family, search)


def _ucb(
    family: TaskFamily,
    search: Searcher,
    *,
    beta: float = 4.0,
    schedule: Literal["fixed", "gp-ucb"] = "fixed",
    delta: float = 0.1,
) -> Policy:
    """Upper confidence bound, mean + sqrt(beta) std, with a fixed beta or the GP-UCB schedule."""
    return _from_midpoint(UCB(beta, schedule, delta), family, search)


def _random(family: TaskFamily, search: Searcher) -> Policy:
    """Uniform random search, without replacement on finite domains."""
    return RandomSearch(family.domain)


METHODS: dict[str, Callable[..., Policy]] = {
    "ei": _ei,
    "logei": _logei,
    "pi": _pi,
    "random": _random,
    "ucb": _ucb,
}
