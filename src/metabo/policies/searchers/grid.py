"""The paper's search of the unit cube: a grid, then local grids around its best points."""

from dataclasses import dataclass
from typing import Literal

from metabo.acquisition import AcquisitionFunction
from metabo.domain import lattice, sobol
from metabo.errors import OptionError
from metabo.policies.searchers.base import for_all
from metabo.policies.searchers.candidates import Candidates, best, evaluate
from metabo.state import BOState


@dataclass(frozen=True)
class HierarchicalGrid:
    """The paper's search: a global grid, then Sobol points around its k best points.

    The candidate set consists of the k best local points, followed by the global grid (the
    paper's xi_local and xi_global).

    Raises:
        OptionError: If a number is less than 1.
    """

    n_global: int
    """Number of points of the global grid, N_MS."""
    n_local: int
    """Number of points of each local grid, N_LS."""
    k: int = 5
    """Number of local searches, and of the local points that are kept."""
    grid: Literal["lattice", "sobol"] = "lattice"
    """The published program's lattice of floor(N_MS^(1/D))^D points, or the paper's Sobol grid."""

    def __post_init__(self) -> None:
        """Check the sizes."""
        if min(self.n_global, self.n_local, self.k) < 1:
            raise OptionError(
                "A search needs at least one global point, one local point and one local search, "
                f"but got {self.n_global}, {self.n_local} and {self.k}."
            )

    @classmethod
    def paper(cls, dim: int, grid: Literal["lattice", "sobol"] = "lattice") -> "HierarchicalGrid":
        """Return the published sizes for `dim` dimensions (from four on, those for GP samples).

        Examples:
            >>> HierarchicalGrid.paper(2).n_global
            1000
        """
        n = {1: 500, 2: 1000, 3: 2000, 4: 3000}.get(dim, 4000)
        return cls(n, n, 5, grid)

    def candidates(self, state: BOState, af: AcquisitionFunction) -> Candidates:
        """Return the best local points, followed by the global grid."""
        dim = state.gp.prior.dim
        per_axis = int(self.n_global ** (1 / dim) + 1e-9)
        if self.grid == "lattice" and per_axis < 2:
            raise OptionError(
                f"A lattice needs at least two points per axis, but {self.n_global} points are "
                f"too few in {dim} dimensions. Use the search `sobol` or `gradient`."
            )
        device = state.gp.x.device
        points = (
            lattice(per_axis, dim, device)
            if self.grid == "lattice"
            else sobol(self.n_global, dim, device)
        )
        coarse = evaluate(state, af, for_all(points, state))
        centres = coarse.take(best(coarse.score, self.k)).belief.x  # E K D
        low, high = (centres - 1 / per_axis).clamp_min(0), (centres + 1 / per_axis).clamp_max(1)
        cube = sobol(self.n_local, dim, device)
        local = low[:, :, None] + cube * (high - low)[:, :, None]  # E K N D
        fine = evaluate(state, af, local.flatten(1, 2))
        # The k best of all local points together, which may cluster around one start, as in the
        # published program.
        return fine.take(best(fine.score, self.k)).then(coarse)
