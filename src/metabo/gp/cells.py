"""Cells: guesses of how a new task relates to the sources.

A cell says which sources the task resembles (all of them, or one group of similar ones), how much
of it they leave unexplained, and its scale and offset. All cells are kept at first, and the data
of the new task weighs them by their evidence.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import torch

from metabo.shapes import Float, Int

CELL_TENSORS = (
    "group",
    "share",
    "scale",
    "offset_variance",
    "noise_share",
    "log_weight",
    "log_plain",
)
"""Names of the tensors of `Cells`."""


@dataclass(frozen=True)
class Cells:
    """Guesses of how a new task relates to the sources, and the prior probability of each."""

    group: Int[torch.Tensor, " C"]
    """Index of the group of sources that the task resembles; 0 for all sources together."""
    share: Float[torch.Tensor, " C"]
    """Variance of the residual g, as a share of the prior's signal variance."""
    scale: Float[torch.Tensor, " C"]
    """Factor c on the mean, the features and the residual."""
    offset_variance: Float[torch.Tensor, " C"]
    """Variance of the constant b."""
    noise_share: Float[torch.Tensor, " C"]
    """Factor on the noise and jitter of the plain prior.

    It is 1 where values are noisy. Otherwise the plain prior's noise only stands for what its
    kernel cannot explain, and late evaluations could not be told apart with it: it is 0 for
    functions, and the residual's share for tables, whose neighbouring values differ at random.
    """
    log_weight: Float[torch.Tensor, " C"]
    """Logarithm of the prior probability of each cell."""
    log_plain: Float[torch.Tensor, ""]
    """Logarithm of the prior probability of the plain prior; minus infinity without a guard."""

    def to(self, device: torch.device | str) -> "Cells":
        """Return the same cells on another device."""
        moved = (getattr(self, name).to(device) for name in CELL_TENSORS)
        return Cells(*moved)

    def unguarded(self) -> "Cells":
        """Return the cells without the plain prior among them."""
        never = torch.full_like(self.log_plain, -torch.inf)
        return replace(self, log_weight=self.log_weight - self._log_total, log_plain=never)

    @property
    def log_odds(self) -> Float[torch.Tensor, ""]:
        """Logarithm of the prior odds of the plain prior."""
        return self.log_plain - self._log_total

    @cached_property
    def n_of_all(self) -> int:
        """Number of cells of all sources together, which come first."""
        return int((self.group == 0).sum())

    @property
    def _log_total(self) -> Float[torch.Tensor, ""]:
        return self.log_weight.logsumexp(0)


_ONE = torch.ones(1, dtype=torch.float64)
ONE = Cells(
    torch.zeros(1, dtype=torch.int64),
    1e-4 * _ONE,
    _ONE,
    0 * _ONE,
    1e-4 * _ONE,
    0 * _ONE,
    -torch.inf * _ONE[0],
)
"""A single cell without a guard: the residual has 1e-4 of the signal variance."""
