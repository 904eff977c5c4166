"""Which data sets are learned from and which are kept apart, as a function of a seed."""

from collections.abc import Sequence

import torch

from metabo.errors import OptionError, brief
from metabo.seeding import generator


def k_fold(
    names: Sequence[str],
    k: int,
    *,
    seed: int = 0,
    together: Sequence[Sequence[str]] = (),
) -> tuple[tuple[str, ...], ...]:
    """The data sets dealt to `k` folds, each in the order of names.

    Args:
        names: Data sets, in any order.
        k: How many folds.
        seed: Of the order in which they are dealt, each to the fold that has fewest.
        together: Data sets that one fold must have all of, because to know one is to know the
            others; those that are not among the names do not matter.
    """
    units = units_of(names, together)
    if not 2 <= k <= len(units):
        raise OptionError(
            f"The number of folds must lie in 2..{len(units)}, the number of data sets to deal "
            f"(those of one origin counted once), but got {brief(k)}."
        )
    by_first = {min(unit): unit for unit in units}
    folds: list[list[str]] = [[] for _ in range(k)]
    for first in shuffled(list(by_first), seed=seed):
        min(folds, key=len).extend(by_first[first])
    return tuple(tuple(sorted(fold)) for fold in folds)


def kept_apart(
    names: Sequence[str], n: int, *, together: Sequence[Sequence[str]] = ()
) -> tuple[str, ...]:
    """The first `n` data sets, but for those that would be parted from others of their origin.

    Args:
        names: Data sets, in the order in which to take them.
        n: How many to keep apart.
        together: As for folds.
    """
    units = {name: unit for unit in units_of(names, together) for name in unit}
    kept: list[str] = []
    for name in names:
        if name not in kept and len(kept) + len(units[name]) <= n:
            kept += units[name]
    if len(kept) < n:
        raise OptionError(
            f"No {n} data sets can be kept for validation without parting some of one origin. "
            f"Keep {len(kept)}, or another number."
        )
    return tuple(sorted(kept))


def units_of(names: Sequence[str], together: Sequence[Sequence[str]]) -> list[list[str]]:
    """The data sets in the parts that must not be divided: groups of one origin, and singles."""
    units = [[name] for name in names]
    for group in together:
        joined = [unit for unit in units if set(unit) & set(group)]
        units = [unit for unit in units if unit not in joined]
        units.append([name for unit in joined for name in unit])
    return [unit for unit in units if unit]


def shuffled(names: Sequence[str], *, seed: int) -> list[str]:
    """The names in an order that depends on the seed and on the names alone."""
    known = sorted(names)
    order = torch.randperm(len(known), generator=generator(seed, "data sets"))
    return [known[i] for i in order.tolist()]
