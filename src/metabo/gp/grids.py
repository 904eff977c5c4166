"""Values at the points of a grid, which are computed once and then looked up.

A search scans the same grid at every step, and its points are the same for all episodes. Such a
grid is recognized by its memory: all episodes share it, so the stride of their axis is 0.
"""

from collections.abc import Callable

from torch import Tensor

from metabo.devices import is_capturing
from metabo.shapes import Float

_MOST_GRIDS, _MOST_POINTS = 16, 20_000
"""Number of grids whose values are kept, and the number of points of the largest one."""


def is_shared(x: Float[Tensor, "E N D"]) -> bool:
    """Tell whether all episodes have the same points, in the same memory."""
    return x.stride(0) == 0


class AtGrids:
    """A function of points whose values at grids are kept."""

    def __init__(self, function: Callable[[Float[Tensor, "1 N D"]], Float[Tensor, "1 R N"]]):
        """Start without any values."""
        self._function = function
        self._known: dict[object, tuple[Tensor, int, Tensor]] = {}

    def __call__(self, x: Float[Tensor, "E n D"]) -> Float[Tensor, "1 R n"]:
        """Return the values at points that all episodes share, such as a part of a grid."""
        n, dim = x.shape[1:]
        size = x.untyped_storage().nbytes() // x.element_size()
        is_kept = x.stride()[1:] == (dim, 1) and size <= _MOST_POINTS * dim
        if not is_kept or size % dim or x.storage_offset() % dim or x.is_inference():
            return self._function(x[:1])
        first = x.storage_offset() // dim
        values = self._of_whole(x.as_strided((1, size // dim, dim), (size, dim, 1), 0))
        return self._function(x[:1]) if values is None else values[..., first : first + n]

    def _of_whole(self, grid: Float[Tensor, "1 N D"]) -> Float[Tensor, "1 R N"] | None:
        """Return the values at a whole grid; None if they are not known and cannot be kept."""
        key = grid.data_ptr(), grid.shape, grid.device
        # The grid is kept with its values, so that no other one can take its place in memory.
        # None is ever dropped or replaced: a recorded graph would go on using its memory.
        if key in self._known:
            _, version, values = self._known[key]
            return values if version == grid._version else None
        if len(self._known) == _MOST_GRIDS or is_capturing(grid):
            return None
        values = self._function(grid)
        self._known[key] = grid, grid._version, values
        return values
