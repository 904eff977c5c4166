"""Which data sets are learned from and which are kept apart, as a function of a seed."""

from collections.abc import Sequence

import torch

from metabo.errors import OptionError
from metabo.seeding import generator


def k_fold(names: Sequence[str], k: int, *, seed: int = 0) -> tuple[tuple[str, ...], ...]:
    """The data sets dealt to `k` folds of sizes that differ by at most one, each in name order."""
    if not 2 <= k <= len(names):
        raise OptionError(
            f"The number of folds must lie in 2..{len(names)}, the number of data sets to deal, "
            f"but got {k}."
        )
    dealt = shuffled(names, seed=seed)
    return tuple(tuple(sorted(dealt[fold::k])) for fold in range(k))


def shuffled(names: Sequence[str], *, seed: int) -> list[str]:
    """The names in an order that depends on the seed and on the names alone."""
    known = sorted(names)
    order = torch.randperm(len(known), generator=generator(seed, "data sets"))
    return [known[i] for i in order.tolist()]
