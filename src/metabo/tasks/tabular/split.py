"""Division of data sets into those to learn from and held-out ones, as a function of a seed."""

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
    """Data sets held out for validation."""
    tested: tuple[str, ...]
    """Data sets held out for testing."""


@dataclass(frozen=True)
class Split:
    """Settings that divide a table's data sets into those to learn from and held-out ones."""

    fold: int | None = None
    """Number of the fold (0, 1, ...) that is held out for testing; if None, no fold is."""
    folds: int = 7
    """Number of folds that the sources are divided into, if one is held out."""
    validate: int = 0
    """Number of sources held out for validation, to decide when to stop; none of them has the same
    origin as a data set to learn from."""
    turn: int = 0
    """Number (0, 1, ...) that selects the validation data sets if a fold is held out: the first
    `validate` of the folds after it in turn 0, the next `validate` in turn 1, and so on."""
    sources: int | None = None
    """Number of sources to learn from; all if None."""
    seed: int = 0
    """Random seed for the folds and the order of the sources."""

    def sides(self, table: Table) -> Sides:
        """Divide a table's data sets.

        Raises:
            OptionError: If the table has too few data sets for this split.
        """
        tested, others = (table.test, ()) if self.fold is None else self._fold(table)
        if self.turn and self.fold is None:
            raise OptionError(
                f"`turn` needs a fold that is held out, but got `turn={brief(self.turn)}` alone. "
                "Give `fold` too."
            )
        learned = [n for n in shuffled(table.sources, seed=self.seed) if n not in tested]
        if self.sources is not None:
            whole(1, len(learned)).require("sources", self.sources)
            learned = learned[: self.sources]
        if not learned:
            raise OptionError(
                "All data sets are held out for testing, which leaves none to learn from. Name "
                "fewer of them as `test` in `table.json`."
            )
        if not 0 <= self.validate < len(learned):
            raise OptionError(
                "`validate` must leave a data set to learn from: it must lie in "
                f"0..{len(learned) - 1}, but got {brief(self.validate)}."
            )
        # Each fold and turn holds out other data sets, so that in the end all have been held out.
        order = [name for name in others if name in learned] or learned
        skipped = self.turn * self.validate % len(order)
        order = [*order[skipped:], *order[:skipped]]
        validated = kept_apart(order, self.validate, together=table.together)
        return Sides(tuple(n for n in learned if n not in validated), validated, tested)

    def _fold(self, table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the data sets of the held-out fold, and those of the others, in cyclic order."""
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
    """Divide data sets into `k` folds, each sorted by name.

    Args:
        names: Data sets, in any order.
        k: Number of folds.
        seed: Random seed for the order in which data sets are assigned, each to the smallest fold.
        together: Groups of data sets that must be in the same fold, because one reveals the
            others; data sets that are not in `names` are ignored.

    Raises:
        OptionError: If there are more folds than groups and single data sets.
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
    """Return the first `n` data sets, skipping those that would be separated from their group.

    Args:
        names: Data sets, in order of preference.
        n: Number of data sets to hold out.
        together: Groups of data sets that must not be separated.

    Raises:
        OptionError: If no `n` data sets can be held out without separating a group.
    """
    units = {name: unit for unit in units_of(names, together) for name in unit}
    kept: list[str] = []
    for name in names:
        if name not in kept and len(kept) + len(units[name]) <= n:
            kept += units[name]
    if len(kept) < n:
        raise OptionError(
            f"No {n} data sets can be held out for validation without separating some of one "
            f"origin. Hold out {len(kept)}, or another number."
        )
    return tuple(sorted(kept))


def units_of(names: Sequence[str], together: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the data sets in groups of one origin, which must not be separated, and singles."""
    units = [[name] for name in names]
    for group in together:
        joined = [unit for unit in units if set(unit) & set(group)]
        units = [unit for unit in units if unit not in joined]
        units.append([name for unit in joined for name in unit])
    return [unit for unit in units if unit]


def shuffled(names: Sequence[str], *, seed: int) -> list[str]:
    """Return the names in a random order that depends only on the seed and the set of names."""
    known = sorted(names)
    order = torch.randperm(len(known), generator=generator(seed, "data sets"))
    return [known[i] for i in order.tolist()]
