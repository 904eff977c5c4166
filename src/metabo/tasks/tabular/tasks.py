"""Data sets as functions on a finite set of configurations, and variations of them.

An AF can memorize a few dozen data sets: it then recognizes each after one query and proposes its
best configuration, which does not help on a new data set. Training therefore uses random
variations of the data sets.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.devices import is_capturing
from metabo.errors import DomainError
from metabo.gp import Prior
from metabo.shapes import Float, Int

_COMPARED = 2**22
"""Largest number of points compared at once."""


@dataclass(frozen=True)
class TabularTasks:
    """A batch of E data sets."""

    points: Float[Tensor, "N D"]
    """Configurations as points of the unit cube."""
    values: Float[Tensor, "E N"]
    """Value of each data set at each configuration."""
    prior: Prior | None = None
    """GP hyperparameters of each data set; None if they share the family's."""

    @property
    def optimum(self) -> Float[Tensor, " E"]:
        """Largest value of each data set."""
        return self.values.amax(-1)

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Look up the values at configurations.

        Raises:
            DomainError: If a point is not a configuration of the table.
        """
        size = max(1, _COMPARED // (len(x) * len(self.points)))
        return torch.cat([self._look_up(part) for part in x.split(size, 1)], 1)

    def _look_up(self, x: Tensor) -> Tensor:
        is_same = (x[:, :, None, :] == self.points).all(-1)  # E N n
        if not is_capturing(x) and not bool(is_same.any(-1).all()):
            point = x[~is_same.any(-1)][0].tolist()
            raise DomainError(
                f"A table can be queried at its {len(self.points)} configurations only, but got "
                f"the point {point}."
            )
        return self.values.gather(1, is_same.byte().argmax(-1))

    def take(self, index: Int[Tensor, " n"]) -> "TabularTasks":
        """Return the data sets with these indices."""
        prior = self.prior
        if prior is not None:
            prior = replace(
                prior,
                lengthscale=prior.lengthscale[index],
                signal_variance=prior.signal_variance[index],
                noise_variance=prior.noise_variance[index],
            )
        return TabularTasks(self.points, self.values[index], prior)

    def to(self, device: torch.device | str) -> "TabularTasks":
        """Return the same data sets on another device."""
        prior = None if self.prior is None else self.prior.to(device)
        return TabularTasks(self.points.to(device), self.values.to(device), prior)


def varied(
    sources: TabularTasks, draws: Float[Tensor, "n 7"], *, blend: float, bend: float
) -> TabularTasks:
    """Return random variations of source data sets, one per row of uniform draws.

    The values are w a + (1 - w) b + s (c - d), where a, b, c and d are drawn from the M sources,
    and the mean of c - d is subtracted. The weight w is uniform in (0, 1) with probability
    `blend`, and otherwise 1; s is normal with standard deviation `bend`. If `blend` and `bend` are
    0, the values are those of a.
    """
    n_sources = len(sources.values)
    a, b, c, d = (draws[:, :4] * n_sources).long().unbind(-1)
    is_blended, weight, normal = draws[:, 4:].unbind(-1)
    w = torch.where(is_blended < blend, weight, 1.0)[:, None]
    s = bend * torch.special.ndtri(normal.clamp(1e-12, 1 - 1e-12))[:, None]
    values = sources.values
    difference = values[c] - values[d]
    bent = s * (difference - difference.mean(-1, keepdim=True))
    own = sources.take(a)
    return replace(own, values=w * values[a] + (1 - w) * values[b] + bent)
