"""Missing cells of a table, filled from the other cells of the same data set."""

from functools import lru_cache

import torch
from torch import Tensor

from metabo.gp import SourcePosteriors, fit
from metabo.shapes import Float

_POINTS = 300
"""Largest number of results of a data set that a GP is fitted to."""


def filled(points: Float[Tensor, "N D"], values: Float[Tensor, "M N"]) -> Float[Tensor, "M N"]:
    """Fill each gap with the mean of a GP that is fitted to the results of its data set.

    Only results of the same data set are used, so that no information of a test data set enters
    another.
    """
    if bool(values.isfinite().all()):
        return values
    inputs = points.numpy().tobytes()
    rows = [_filled_row(inputs, row.numpy().tobytes(), points.shape[-1]) for row in values]
    return torch.stack(rows)


def capped(filled: Float[Tensor, "M N"], values: Float[Tensor, "M N"]) -> Float[Tensor, "M N"]:
    """Limit the filled values of each data set to its largest measured value.

    Regret on held-out data sets then refers to a measured result, which no filled value exceeds.
    """
    return filled.minimum(values.nan_to_num(nan=-torch.inf).amax(-1, keepdim=True))


@lru_cache(maxsize=1024)
def _filled_row(points: bytes, values: bytes, dim: int) -> Tensor:
    """Fill the gaps of one data set, given as bytes so that many families share the result."""
    row = torch.frombuffer(bytearray(values), dtype=torch.float64)
    known = row.isfinite()
    if bool(known.all()):
        return row
    x = torch.frombuffer(bytearray(points), dtype=torch.float64).view(-1, dim)
    stride = -(-int(known.sum()) // _POINTS)
    seen, y = x[known][::stride], row[known][::stride]
    prior = fit(seen[None], y[None], mean="observed", n_starts=16, n_climbs=2, iterations=30)
    row[~known] = SourcePosteriors.of(prior, seen[None], y[None]).mean(x[~known])[0]
    return row
