"""Policies: from a state to the next query."""

from typing import Literal

from metabo.domain import Domain, Finite
from metabo.errors import unknown
from metabo.policies.base import Policy, Proposal
from metabo.policies.candidates import Candidates
from metabo.policies.decide import Maximize, Sample
from metabo.policies.gradient import GradientRefine
from metabo.policies.listed import FollowList, by_mean_rank, greedy_portfolio
from metabo.policies.mixed import EpsilonGreedy, RandomSearch, StartAt
from metabo.policies.scatter import Scatter
from metabo.policies.search import Enumerate, HierarchicalGrid, Searcher

SearchName = Literal["gradient", "grid", "sobol"]
SEARCHES: dict[SearchName, str] = {
    "gradient": "coarse look, then quasi-Newton ascent from the best places (default)",
    "grid": "the published program's lattice, with Sobol points around its best points",
    "sobol": "the same from a Sobol grid, as in the paper's text",
}


def searcher(name: SearchName, domain: Domain, *, repeats: bool = True) -> Searcher:
    """The searcher of this name for a domain; a finite domain is always enumerated.

    Args:
        name: `gradient`, `grid` or `sobol`.
        domain: Where to search.
        repeats: Whether points of a finite domain may be queried again.
    """
    if isinstance(domain, Finite):
        return Enumerate(domain, repeats)
    if name not in SEARCHES:
        raise unknown("search", name, SEARCHES)
    if name == "gradient":
        return GradientRefine.sized(domain.dim)
    return HierarchicalGrid.paper(domain.dim, "lattice" if name == "grid" else "sobol")


__all__ = [
    "SEARCHES",
    "Candidates",
    "Enumerate",
    "EpsilonGreedy",
    "FollowList",
    "GradientRefine",
    "HierarchicalGrid",
    "Maximize",
    "Policy",
    "Proposal",
    "RandomSearch",
    "Sample",
    "Scatter",
    "SearchName",
    "Searcher",
    "StartAt",
    "by_mean_rank",
    "greedy_portfolio",
    "searcher",
]
