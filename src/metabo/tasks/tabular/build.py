"""From a folder to a family: read the table, then split its data sets."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from metabo.errors import OptionError, brief, shown
from metabo.inputs import entries, user_path
from metabo.rules import number
from metabo.tasks.family import NOISE
from metabo.tasks.tabular.family import Hyperparameters, TabularFamily
from metabo.tasks.tabular.files import read_folder
from metabo.tasks.tabular.sparse import Grid, is_sparse, read_sparse
from metabo.tasks.tabular.split import Split
from metabo.tasks.tabular.table import Table

SHIPPED = Path(__file__).parent.parent / "tables"
"""Folder of the tables that come with the package, each in its own folder."""


def read_table(folder: str | Path, *, grid: Grid = "complete") -> Table:
    """Read the table in a folder of CSV or Parquet files, or of the published files.

    Args:
        folder: Folder with the files.
        grid: Configurations of the published SVM files: all 168 (`complete`), or the 143 that the
            published program used (`published`).

    Raises:
        DataError: If a file cannot be read, or its content is not valid.
        OptionError: If `grid` is given for other files than the published ones.
    """
    path = user_path(folder, "table folder")
    return _read(path, grid, tuple(_stamp(entry) for entry in entries(path, "table folder")))


def _stamp(path: Path) -> tuple[str, int, int]:
    """Return what distinguishes a file from an earlier one of the same name."""
    try:
        known = path.stat()
    except OSError:  # a dangling link or a removed file; reading it will raise
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
    """Return the builder of the family of the table in a folder."""

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
    """Return the family of a table's data sets.

    Args:
        name: Name of the family.
        table: The table; its test data sets are not learned from.
        split: Further data sets to hold out; none if None.
        budget: Number of evaluations in an episode; the table's own if None.
        noise: Standard deviation of the noise added to observed values.
        hyperparameters: Hyperparameters of the GP: `shared` by all data sets and fitted to the
            sources, or as published each data set's own, `fitted-on-test-data`, which for a target
            uses its own values.
        blend: Share of training tasks that are weighted means of two data sets.
        bend: Standard deviation of the factor with which the difference of two data sets is added
            to a training task.

    Raises:
        OptionError: If an argument is not valid, or the table has too few data sets for the split.
    """
    split = split or Split()
    sides = split.sides(table)
    budget, n_points = table.budget if budget is None else budget, len(table.configurations)
    if budget < 1 or (budget > n_points and not noise):
        raise OptionError(
            f"`budget` must lie in 1..{n_points}, the number of configurations, each of which is "
            f"queried once at most, but got {brief(budget)}."
        )
    NOISE.require("noise", noise)
    number(0, 1).require("blend", blend)
    number(0, 10).require("bend", bend)
    return TabularFamily(
        name,
        table,
        sides.learned,
        sides.validated,
        sides.tested,
        budget,
        hyperparameters,
        noise,
        blend,
        bend,
        split=split,
    )
