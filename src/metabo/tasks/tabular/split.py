"""Which data sets are learned from and which are kept apart, as a function of a seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from metabo.errors import OptionError, brief
from metabo.rules import whole
from metabo.seeding import generator
from metabo.tasks.tabular.table import Table


@dataclass(frozen=True)
class Sides:
    """The data sets on each side of a split."""

    learned: tuple[str, ...]
    """Data sets to learn from."""
    validated: tuple[str, ...]
    """Data sets kept for validation."""
    tested: tuple[str, ...]
    """Data sets kept for testing."""


@dataclass(frozen=True)
class Split:
    """Which data sets of a table are learned from and which are kept apart."""

    fold: int | None = None
    """Number of the fold (0, 1, ...) that is tested on; the others are learned from."""
    folds: int = 7
    """Number of folds that the sources are dealt to where one is held out."""
    validate: int = 0
    """Number of sources kept for validation, to tell when to stop; none of them is of one origin
    with a data set that is learned from."""
    turn: int = 0
    """With a fold held out, the data sets of the folds after it are kept for validation: the first
    `validate` of them in turn 0, the next as many in turn 1, and so on."""
    sources: int | None = None
    """Number of sources to learn from; all if None."""
    seed: int = 0
    """Random seed for the folds and the order of the sources."""

    def sides(self, table: Table) -> Sides:
        """Divide a table's data sets.

        Raises:
            OptionError: If the table has not enough data sets for this split.
        """
        tested, others = (table.test, ()) if self.fold is None else self._fold(table)
        if self.turn and self.fold is None:
            raise OptionError(
                f"`turn` needs a fold that is held out, but got `turn={brief(self.turn)}` alone. "
                "Give `fold` too."
            )
        learned = [n for n in shuffled(table.sources, seed=self.seed) if n not in tested]
        if self.sources is not None:
            # There are as many as data sets to learn from.
            whole(1, len(learned)).require("sources", self.sources)
            learned = learned[: self.sources]
        if not learned:
            raise OptionError(
                "All data sets are kept for testing, which leaves none to learn from. Name fewer "
                "of them as `test` in `table.json`."
            )
        if not 0 <= self.validate < len(learned):
            raise OptionError(
                "`validate` must leave a data set to learn from: it must lie in "
                f"0..{len(learned) - 1}, but got {brief(self.validate)}."
            )
        # From fold to fold and turn to turn others are kept, so that in the end all have been.
        order = [name for name in others if name in learned] or learned
        skipped = self.turn * self.validate % len(order)
        order = [*order[skipped:], *order[:skipped]]
        validated = kept_apart(order, self.validate, together=table.together)
        return Sides(tuple(n for n in learned if n not in validated), validated, tested)

    def _fold(self, table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The data sets of the split's fold, and the others, those of the fold after it first."""
        parts = k_fold(table.sources, self.folds, seed=self.seed, together=table.together)
        assert self.fold is not None
        whole(0, self.folds - 1).require("fold", self.fold)
        whole(0, self.folds - 2).require("turn", self.turn)
        after = (*parts[self.fold + 1 :], *parts[: self.fold])
        return parts[self.fold], tuple(name for part in after for name in part)


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
        k: Number of folds.
        seed: Random seed for the order in which data sets are dealt, each to the fold that has
            fewest.
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
