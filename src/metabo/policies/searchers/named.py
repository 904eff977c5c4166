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
    "gradient": "coarse scan, then quasi-Newton ascent from the best points (default)",
    "grid": "the published program's lattice, with Sobol points around its best points",
    "sobol": "the same from a Sobol grid, as in the paper's text",
}
"""Descriptions of the searches by name."""

MAX_LISTED = 4096
"""Largest number of points of a discrete space of which all are scored."""


def searcher(name: SearchName, domain: Domain, *, repeats: bool = True) -> Searcher:
    """Return the searcher of this name for a domain; a finite domain is always enumerated.

    Args:
        name: `gradient`, `grid` or `sobol`.
        domain: Domain to search.
        repeats: Whether points of a finite domain may be queried again.

    Raises:
        OptionError: If the name is unknown.

    Examples:
        >>> searcher("sobol", Box(2)).n_global
        1000
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
    """Return the domain of a space, and a searcher for it that proposes no point twice.

    A space of real parameters is the whole cube. With discrete parameters, points of the cube are
    projected before they are scored; if the space has at most `MAX_LISTED` points, all are scored.
    (In a space with a `Float`, an AF may still repeat a point.)

    Args:
        name: `gradient`, `grid` or `sobol`.
        space: Parameters to search.
        among: The only points that may be proposed; None to allow the whole space.

    Examples:
        >>> from metabo.space import Int
        >>> domain, search = in_space("gradient", Space({"n": Int(1, 4)}))
        >>> len(domain.points), type(search).__name__
        (4, 'Enumerate')
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
