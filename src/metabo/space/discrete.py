"""The discrete parameters of a space: its points one by one, and which are neighbours."""

from itertools import islice, product

import torch
from torch import Tensor

from metabo.errors import OptionError
from metabo.shapes import Bool, Float
from metabo.space.parameter import Choice, Int, Parameter
from metabo.space.parameter import Float as FloatParameter
from metabo.space.space import Space


def is_continuous(space: Space) -> Bool[Tensor, " D"]:
    """Tell which coordinates of the cube can take any value in [0, 1]."""
    flags: list[bool] = []
    for parameter in space.parameters.values():
        flags += [isinstance(parameter, FloatParameter)] * parameter.n_coordinates
    return torch.tensor(flags)


def first_points(space: Space, n: int) -> Float[Tensor, "N D"]:
    """Return `n` different encoded points of a space without `Float`, or all if it has fewer.

    Raises:
        OptionError: If the space has a `Float`.
    """
    if space.size is None:
        raise OptionError(
            "The points of a space with a `Float` cannot be listed. Use `Int` or `Choice`."
        )
    # An `Int` may have 2**50 values; the first `n` of them are enough.
    values = [_coordinates(parameter, n) for parameter in space.parameters.values()]
    rows = islice(product(*values), n)
    return torch.tensor([[c for part in row for c in part] for row in rows], dtype=torch.float64)


def neighbours(space: Space, x: Float[Tensor, "E K D"]) -> Float[Tensor, "E N D"]:
    """Return all points that differ from one of `x` in a single discrete parameter.

    A `Choice` takes each of its values; an `Int` moves by one and by about a tenth of its range.
    """
    parts, found = space.split(x), []
    for number, parameter in enumerate(space.parameters.values()):
        for changed in _changes(parameter, parts[number]):
            found.append(torch.cat([*parts[:number], changed, *parts[number + 1 :]], -1))
    return torch.cat(found, 1) if found else x[:, :0]


def _coordinates(parameter: Parameter, n: int) -> list[list[float]]:
    if isinstance(parameter, Choice):
        return [parameter.encode(value) for value in parameter.values[:n]]
    low = int(parameter.low)
    return [parameter.encode(v) for v in range(low, min(low + n, int(parameter.high) + 1))]


def _changes(parameter: Parameter, part: Tensor) -> list[Tensor]:
    if isinstance(parameter, Choice):
        values = _coordinates(parameter, parameter.levels)
        return [part.new_tensor(one_hot).expand_as(part) for one_hot in values]
    if isinstance(parameter, Int):
        far = max(1, round(parameter.levels / 10))
        return [parameter.shift(part, by) for by in sorted({-far, -1, 1, far})]
    return []
