"""Rows of scattered sources: checked, in an order of their own, and in units of each source.

The order is determined by the rows, so that a prior learned from them does not depend on the order
in which they were given.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.errors import DataError
from metabo.gp import Prior
from metabo.shapes import Float, Int

Rows = tuple[Float[Tensor, "_ _"], Float[Tensor, " _"]]
"""Points at which a source was evaluated, `n D`, and its values there, `n`; n is each source's."""

_LEAST_ROWS = 3
"""Number of different points that a source needs: any two values have the same deviations."""
_LEAST_DEVIATION = 1e-3
"""Smallest deviation of a source, as a share of the median."""
_ROUNDING = 1e-12
"""Differences of values that are at most this share of them are rounding, as of averages."""


@dataclass(frozen=True, eq=False)
class Source:
    """Values of one source at different points."""

    x: Float[Tensor, "n D"]
    """The points, in ascending order of their coordinates."""
    y: Float[Tensor, " n"]
    """The values; the average where the source was evaluated repeatedly."""

    @property
    def is_varied(self) -> bool:
        """Whether the values differ by more than rounding."""
        return bool(self.y.amax() - self.y.amin() > _ROUNDING * self.y.abs().amax())

    def few(self, n: int) -> "Source":
        """Return `n` rows, at most, evenly spread over all of them."""
        n = min(n, len(self.y))
        index = torch.arange(n) * len(self.y) // n
        return Source(self.x[index], self.y[index])

    def thinned(self, n: int, lengthscale: Float[Tensor, " D"]) -> "Source":
        """Return `n` rows, at most, that are far apart in units of lengthscales."""
        index = spread_out(self.x / lengthscale, n)
        return Source(self.x[index], self.y[index])


def checked(rows: Sequence[Rows], dim: int) -> list[Source]:
    """Return the sources with at least 3 different points, in an order of their own.

    Args:
        rows: Points and values of each source.
        dim: Number of coordinates that points must have.

    Raises:
        DataError: If points have another number of coordinates, a number is not finite, fewer than
            2 sources have enough points, or all sources are constant.
    """
    _require_one_space([x.shape[-1] for x, _ in rows], dim)
    for source, (x, y) in enumerate(rows):
        _require_finite(source, x, y)
    merged = [_merged(x.double(), y.double()) for x, y in rows]
    enough = [source for source in merged if len(source.y) >= _LEAST_ROWS]
    if len(enough) < 2:
        few = [m for m, source in enumerate(merged) if len(source.y) < _LEAST_ROWS]
        named = f"; source {few[0]} has {len(merged[few[0]].y)}" if few else ""
        raise DataError(
            f"A prior is learned from at least 2 sources with at least {_LEAST_ROWS} different "
            f"points each, but got {len(enough)}{named}. Give more rows, or do without a learned "
            "prior."
        )
    if not any(source.is_varied for source in enough):
        raise DataError(
            "Nothing can be learned from these sources: every one of them is constant."
        )
    return sorted(enough, key=lambda own: (float(own.y.mean()), own.y.tolist(), own.x.tolist()))


def deviations(prior: Prior, sources: list[Source]) -> Float[Tensor, " M"]:
    """Return the standard deviation of each source, which is the unit of its values.

    It is at least that of the noise: a source that is constant, or nearly so, says little.
    """
    own = torch.stack([source.y.std() for source in sources])
    varied = own[torch.tensor([source.is_varied for source in sources])]
    least = torch.maximum(prior.diagonal[0].sqrt(), _LEAST_DEVIATION * varied.median())
    return own.maximum(least)


def spread_out(x: Float[Tensor, "N D"], n: int) -> Int[Tensor, " n"]:
    """Return the indices of at most `n` points, each as far as possible from those before it.

    The first is the nearest to the centre.
    """
    if len(x) <= n:
        return torch.arange(len(x))
    far = (x - x.mean(0)).square().sum(-1)
    chosen = [int(far.argmin())]
    far = torch.full_like(far, torch.inf)
    for _ in range(n - 1):
        far = torch.minimum(far, (x - x[chosen[-1]]).square().sum(-1))
        chosen.append(int(far.argmax()))
    return torch.tensor(chosen).sort().values


def _merged(x: Tensor, y: Tensor) -> Source:
    points, index, count = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    total = torch.zeros(len(points), dtype=y.dtype).index_add(0, index, y)
    return Source(points, total / count)


def _require_one_space(dims: list[int], dim: int) -> None:
    for source, own in enumerate(dims):
        if own != dims[0]:
            raise DataError(
                "A prior is learned from sources of one space, but points of source 0 have "
                f"{dims[0]} coordinates and those of source {source} have {own}: two spaces that "
                "differ. Learn a prior from the sources of each."
            )
    if dims and dims[0] != dim:
        raise DataError(
            f"Points of sources must have {dim} coordinates, as many as the prior has "
            f"lengthscales, but have {dims[0]}: two spaces that differ. Give a `prior` for the "
            "space of the sources."
        )


def _require_finite(source: int, x: Tensor, y: Tensor) -> None:
    if len(x) != len(y):
        raise DataError(
            f"Every point of a source must have one value, but source {source} has {len(x)} "
            f"points and {len(y)} values."
        )
    is_wrong = ~torch.cat([x, y[:, None]], -1).isfinite()
    for row, column in is_wrong.nonzero()[:1].tolist():
        is_value = column == x.shape[-1]
        number = float(y[row] if is_value else x[row, column])
        place = "" if is_value else f" as coordinate {column}"
        raise DataError(
            f"A prior is learned from finite numbers, but source {source} has {number}{place} in "
            f"row {row}. Leave such rows out, or replace failed evaluations by a finite penalty."
        )
