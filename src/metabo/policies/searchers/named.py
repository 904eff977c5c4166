"""Searchers by name, for a domain or a space."""

from metabo.choices import SearchName as SearchName
from metabo.domain import Box, Domain, Finite
from metabo.errors import unknown
from metabo.policies.searchers.base import Searcher
from metabo.policies.searchers.finite import Enumerate
from metabo.policies.searchers.gradient import GradientRefine
from metabo.policies.searchers.grid import HierarchicalGrid
from metabo.policies.searchers.projected import Projected
from metabo.space import Space
from metabo.space.discrete import first_points

SEARCHES: dict[SearchName, str] = {
    "gradient": "coarse look, then quasi-Newton ascent from the best places (default)",
    "grid": "the published program's lattice, with Sobol points around its best points",
    "sobol": "the same from a Sobol grid, as in the paper's text",
}

MAX_LISTED = 4096
"""Points of a space up to which all of them are scored."""


def searcher(name: SearchName, domain: Domain, *, repeats: bool = True) -> Searcher:
    """The searcher of this name for a domain; a finite domain is always enumerated.

    Args:
        name: `gradient`, `grid` or `sobol`.
        domain: Where to search.
        repeats: Whether points of a finite domain may be queried again.
    """
    if name not in SEARCHES:
        raise unknown("search", name, SEARCHES)
    if isinstance(domain, Finite):
        return Enumerate(domain, repeats)
    if name == "gradient":
        return GradientRefine.sized(domain.dim)
    return HierarchicalGrid.paper(domain.dim, "lattice" if name == "grid" else "sobol")


def in_space(
    name: SearchName, space: Space, among: Finite | None = None
) -> tuple[Domain, Searcher]:
    """The domain that a space is, and the searcher for it that proposes no point twice.

    Real parameters make it the cube, discrete ones a cube whose points are projected before they
    are scored, and few points are listed. (In a space with a `Float` an AF may ask for a repeat.)

    Args:
        name: `gradient`, `grid` or `sobol`.
        space: The parameters.
        among: The only points to propose, where not all of the space may be.
    """
    if among is not None:
        return among, searcher(name, among, repeats=False)
    if space.size is not None and space.size <= MAX_LISTED:
        domain = Finite(first_points(space, space.size))
        return domain, searcher(name, domain, repeats=False)
    box = Box(space.dim)
    is_real = all(parameter.levels is None for parameter in space.parameters.values())
    search = searcher(name, box)
    return box, search if is_real else Projected(search, space)
