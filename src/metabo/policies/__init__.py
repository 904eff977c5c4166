"""Policies: they decide where to query next, given the state of a run."""

from metabo.policies.base import Informed, Policy, Proposal, informed
from metabo.policies.classical import CLASSICAL, classical, from_midpoint, learned
from metabo.policies.decide import Maximize, Sample
from metabo.policies.mixed import EpsilonGreedy, RandomSearch, StartAt
from metabo.policies.portfolio import FollowList, by_mean_rank, greedy_portfolio
from metabo.policies.refitted import Refitted
from metabo.policies.searchers import (
    MAX_LISTED,
    SAME,
    SEARCHES,
    Candidates,
    Enumerate,
    GradientRefine,
    HierarchicalGrid,
    Projected,
    Scatter,
    Searcher,
    SearchName,
    in_space,
    queried,
    searcher,
)

__all__ = [
    "CLASSICAL",
    "MAX_LISTED",
    "SAME",
    "SEARCHES",
    "Candidates",
    "Enumerate",
    "EpsilonGreedy",
    "FollowList",
    "GradientRefine",
    "HierarchicalGrid",
    "Informed",
    "Maximize",
    "Policy",
    "Projected",
    "Proposal",
    "RandomSearch",
    "Refitted",
    "Sample",
    "Scatter",
    "SearchName",
    "Searcher",
    "StartAt",
    "by_mean_rank",
    "classical",
    "from_midpoint",
    "greedy_portfolio",
    "in_space",
    "informed",
    "learned",
    "queried",
    "searcher",
]
