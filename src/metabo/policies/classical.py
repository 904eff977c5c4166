"""The methods that need no more than a domain and a search, by name; and how a learned AF starts.

A method's options are its builder's keyword parameters.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal

from metabo.acquisition import EI, PI, UCB, AcquisitionFunction, LogEI, NeuralAF
from metabo.domain import Box, Domain
from metabo.errors import unknown
from metabo.options import build, parse
from metabo.policies.base import Policy
from metabo.policies.decide import Maximize
from metabo.policies.mixed import RandomSearch, StartAt
from metabo.policies.searchers.base import Searcher


def classical(text: str, domain: Domain, search: Searcher) -> Policy:
    """The policy of a method given as text, such as `ei` or `ucb:beta=9`."""
    name, options = parse(text)
    if name not in CLASSICAL:
        raise unknown("method", name, CLASSICAL)
    return build(f"method `{name}`", partial(CLASSICAL[name], domain, search), options)


def from_midpoint(af: AcquisitionFunction, domain: Domain, search: Searcher) -> Policy:
    """Maximize the AF after a first query at the midpoint, the paper's initial design.

    On a finite domain there is no initial design, as in the paper: the first query is any of the
    tied candidates.
    """
    policy = Maximize(af, search)
    return StartAt(0.5, policy, domain) if isinstance(domain, Box) else policy


def learned(af: NeuralAF, domain: Domain, search: Searcher) -> Policy:
    """Maximize a learned AF, without any initial design: it has learned where to begin.

    One that does not see x has not. Before the first observation all points are the same to it,
    and it starts at the midpoint like the classical methods.
    """
    if af.architecture.is_for_any_dimension:
        return from_midpoint(af, domain, search)
    return Maximize(af, search)


def _ei(domain: Domain, search: Searcher) -> Policy:
    """Expected improvement."""
    return from_midpoint(EI(), domain, search)


def _logei(domain: Domain, search: Searcher) -> Policy:
    """Logarithm of expected improvement: the same maxima, found where EI underflows."""
    return from_midpoint(LogEI(), domain, search)


def _pi(domain: Domain, search: Searcher, *, xi: float = 0.01) -> Policy:
    """Probability of improvement by at least `xi` (0.01 beats 0 on all benchmark families)."""
    return from_midpoint(PI(xi), domain, search)


def _random(domain: Domain, search: Searcher) -> Policy:
    """Uniform random search, without replacement on finite domains."""
    return RandomSearch(domain)


def _ucb(
    domain: Domain,
    search: Searcher,
    *,
    beta: float = 4.0,
    schedule: Literal["fixed", "gp-ucb"] = "fixed",
    delta: float = 0.1,
) -> Policy:
    """Upper confidence bound, mean + sqrt(beta) std, with a fixed beta or the GP-UCB schedule."""
    return from_midpoint(UCB(beta, schedule, delta), domain, search)


CLASSICAL: dict[str, Callable[..., Policy]] = {
    "ei": _ei,
    "logei": _logei,
    "pi": _pi,
    "random": _random,
    "ucb": _ucb,
}
