"""From a folder to a family: read the table, then decide who learns and who is kept apart."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from metabo.errors import OptionError, brief, shown
from metabo.inputs import entries, user_path
from metabo.tasks.tabular.family import Hyperparameters, TabularFamily
from metabo.tasks.tabular.files import read_folder
from metabo.tasks.tabular.sparse import Grid, is_sparse, read_sparse
from metabo.tasks.tabular.split import k_fold, kept_apart, shuffled
from metabo.tasks.tabular.table import Table

SHIPPED = Path(__file__).parent.parent / "tables"
"""Our own measurements, a folder each."""


def read_table(folder: str | Path, *, grid: Grid = "complete") -> Table:
    """The table in a folder of CSV or Parquet files, or of the published files.

    Args:
        folder: Where the files are.
        grid: For the published SVM files, all 168 configurations or the published program's 143.
    """
    path = user_path(folder, "table folder")
    return _read(path, grid, tuple(_stamp(entry) for entry in entries(path, "table folder")))


def _stamp(path: Path) -> tuple[str, int, int]:
    """What tells a file from an earlier one of its name."""
    try:
        known = path.stat()
    except OSError:  # a link that leads nowhere, or a file that vanished: if needed, it is named
        return path.name, 0, 0
    return path.name, known.st_mtime_ns, known.st_size


@lru_cache(maxsize=8)
def _read(path: Path, grid: Grid, stamp: tuple[tuple[str, int, int], ...]) -> Table:
    is_tabular = any(name.endswith((".csv", ".parquet")) for name, *_ in stamp)
    if not is_tabular and is_sparse(path):
        return read_sparse(path, grid=grid)
    if grid != "complete":
        raise OptionError(
            f"`grid` is for the published files, but `{shown(path)}` has none of them. "
            "Leave it out."
        )
    return read_folder(path)


def tabular(name: str, folder: str | Path) -> Callable[..., TabularFamily]:
    """What builds the family of the table in a folder."""

    def builder(
        *,
        fold: int | None = None,
        folds: int = 7,
        validate: int = 0,
        turn: int = 0,
        sources: int | None = None,
        seed: int = 0,
        budget: int | None = None,
        noise: float = 0.0,
        hyperparameters: Hyperparameters = "shared",
        blend: float = 0.5,
        bend: float = 0.5,
        grid: Grid = "complete",
    ) -> TabularFamily:
        table = read_table(folder, grid=grid)
        split = Split(fold, folds, validate, turn, sources, seed)
        return table_family(
            name,
            table,
            split,
            budget=budget,
            noise=noise,
            hyperparameters=hyperparameters,
            blend=blend,
            bend=bend,
        )

    return builder


@dataclass(frozen=True)
class Split:
    """Which data sets of a table are learned from and which are kept apart."""

    fold: int | None = None
    """Tests on this part of the sources (0, 1, ...) and learns from the others."""
    folds: int = 7
    """How many parts the sources are dealt to where a fold is held out."""
    validate: int = 0
    """So many of the sources are kept for validation, to tell when to stop; none of them is of one
    origin with a data set that is learned from."""
    turn: int = 0
    """With a fold held out, those after it are kept, fold by fold: the first `validate` of them
    in turn 0, the next as many in turn 1, and so on."""
    sources: int | None = None
    """Learn from so many of the sources only."""
    seed: int = 0
    """Of the folds and of the other choices."""


def table_family(
    name: str,
    table: Table,
    split: Split | None = None,
    *,
    budget: int | None = None,
    noise: float = 0.0,
    hyperparameters: Hyperparameters = "shared",
    blend: float = 0.5,
    bend: float = 0.5,
) -> TabularFamily:
    """A family of a table's data sets.

    Args:
        name: Of the family.
        table: Its data sets kept for testing are not learned from.
        split: What else is kept apart; nothing if None.
        budget: Evaluations per run; the table's own if None.
        noise: Standard deviation of noise added to observed values.
        hyperparameters: Of the GP: `shared` by all, fitted to the sources; or each data set's own,
            which for a target needs its own values: `fitted-on-test-data`, as published.
        blend: Share of training tasks that are weighted means of two data sets.
        bend: How strongly training tasks are bent by the difference of two data sets.
    """
    split = split or Split()
    tested, others = (table.test, ()) if split.fold is None else _fold(table, split)
    if split.turn and split.fold is None:
        raise OptionError("`turn` is for a fold that is held out: give `fold` too.")
    learned = [n for n in shuffled(table.sources, seed=split.seed) if n not in tested]
    if split.sources is not None:
        if not 1 <= split.sources <= len(learned):
            raise OptionError(
                f"`sources` must lie in 1..{len(learned)}, the number of data sets to learn "
                f"from, but got {brief(split.sources)}."
            )
        learned = learned[: split.sources]
    if not learned:
        raise OptionError(
            "All data sets are kept for testing, which leaves none to learn from. Name fewer of "
            "them as `test` in `table.json`."
        )
    if not 0 <= split.validate < len(learned):
        raise OptionError(
            "`validate` must leave a data set to learn from: it must lie in "
            f"0..{len(learned) - 1}, but got {brief(split.validate)}."
        )
    # From fold to fold and turn to turn others are kept, so that in the end all have been.
    order = [name for name in others if name in learned] or learned
    skipped = split.turn * split.validate % len(order)
    order = [*order[skipped:], *order[:skipped]]
    validated = kept_apart(order, split.validate, together=table.together)
    budget, n_points = table.budget if budget is None else budget, len(table.configurations)
    if budget < 1 or (budget > n_points and not noise):
        raise OptionError(
            f"`budget` must lie in 1..{n_points}, the number of configurations, each of which is "
            f"queried once at most, but got {brief(budget)}."
        )
    limits = (("noise", noise, 1e6), ("blend", blend, 1), ("bend", bend, 10))
    for option, value, most in limits:
        if not 0 <= value <= most:
            raise OptionError(f"`{option}` must lie in 0..{most:g}, but got {brief(value)}.")
    return TabularFamily(
        name,
        table,
        tuple(name for name in learned if name not in validated),
        validated,
        tested,
        budget,
        hyperparameters,
        noise,
        blend,
        bend,
    )


def _fold(table: Table, split: Split) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The data sets of the split's fold, and the others, those of the fold after it first."""
    parts = k_fold(table.sources, split.folds, seed=split.seed, together=table.together)
    assert split.fold is not None
    if not 0 <= split.fold < split.folds:
        raise OptionError(f"`fold` must lie in 0..{split.folds - 1}, but got {brief(split.fold)}.")
    if not 0 <= split.turn < split.folds - 1:
        raise OptionError(f"`turn` must lie in 0..{split.folds - 2}, but got {brief(split.turn)}.")
    after = (*parts[split.fold + 1 :], *parts[: split.fold])
    return parts[split.fold], tuple(name for part in after for name in part)
