"""Searchers: they find the points where an acquisition function is large."""

from metabo.policies.searchers.base import SAME, Searcher, queried
from metabo.policies.searchers.candidates import Candidates
from metabo.policies.searchers.finite import Enumerate
from metabo.policies.searchers.gradient import GradientRefine
from metabo.policies.searchers.grid import HierarchicalGrid
from metabo.policies.searchers.named import MAX_LISTED, SEARCHES, SearchName, in_space, searcher
from metabo.policies.searchers.projected import Projected
from metabo.policies.searchers.scatter import Scatter

__all__ = [
    "MAX_LISTED",
    "SAME",
    "SEARCHES",
    "Candidates",
    "Enumerate",
    "GradientRefine",
    "HierarchicalGrid",
    "Projected",
    "Scatter",
    "SearchName",
    "Searcher",
    "in_space",
    "queried",
    "searcher",
]
