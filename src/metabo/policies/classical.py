"""Classical methods by name, which need only a domain and a search; and policies of learned AFs.

The options of a method are the keyword parameters of its builder.
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
    """Build the policy of a method given as text, such as `ei` or `ucb:beta=9`.

    Raises:
        OptionError: If the method or an option is unknown, or a value is not allowed.

    Examples:
        >>> from metabo.domain import Box
        >>> from metabo.policies import searcher
        >>> box = Box(2)
        >>> classical("ucb:beta=9", box, searcher("gradient", box)).then.af.beta
        9.0
    """
    name, options = parse(text)
    if name not in CLASSICAL:
        raise unknown("method", name, CLASSICAL)
    return build(f"method `{name}`", partial(CLASSICAL[name], domain, search), options)


def from_midpoint(af: AcquisitionFunction, domain: Domain, search: Searcher) -> Policy:
    """Build a policy that first queries the midpoint, the paper's design, then maximizes the AF.

    On a finite domain there is no initial design, as in the paper: the first query is chosen at
    random among the tied candidates.

    Examples:
        >>> from metabo.domain import Box
        >>> from metabo.policies import searcher
        >>> from_midpoint(EI(), Box(2), searcher("gradient", Box(2))).x
        0.5
    """
    policy = Maximize(af, search)
    return StartAt(0.5, policy, domain) if isinstance(domain, Box) else policy


def learned(af: NeuralAF, domain: Domain, search: Searcher) -> Policy:
    """Build a policy that maximizes a learned AF, which has also learned where to start.

    An AF that does not see x has not: before the first observation it cannot tell points apart,
    so it starts at the midpoint like the classical methods.

    Examples:
        >>> from metabo.acquisition import Architecture
        >>> from metabo.domain import Box
        >>> from metabo.policies import searcher
        >>> af = NeuralAF(Architecture(dim=2, hidden=(8,)))
        >>> type(learned(af, Box(2), searcher("gradient", Box(2)))).__name__
        'Maximize'
    """
    if af.architecture.is_for_any_dimension:
        return from_midpoint(af, domain, search)
    return Maximize(af, search)


def _ei(domain: Domain, search: Searcher) -> Policy:
    """Expected improvement."""
    return from_midpoint(EI(), domain, search)


def _logei(domain: Domain, search: Searcher) -> Policy:
    """Logarithm of expected improvement: the same maxima, also found where EI underflows."""
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
"""Builders of the classical methods by name."""
