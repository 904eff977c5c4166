"""The published SVM and AdaBoost tables: a folder with one file per data set in libsvm format.

A line has an accuracy and `index:value` pairs. The first few indices are the configuration, scaled
to [-1, 1]; the others describe the data set. The format omits zeros, so an absent index has the
value 0. For the SVM, indices 0 to 2 indicate the kernel (one is 1), 3 is C and 4 is gamma; only
lines of the RBF kernel are used, with 12 x 14 configurations. For AdaBoost, 0 is the number of
iterations and 1 the number of product terms: 12 x 9 configurations.

The paper's program kept only lines with both indices, and so lost the 25 SVM configurations in
which C or gamma is 0; `grid="published"` does the same.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from metabo.errors import DataError, shown
from metabo.inputs import entries, kind_of, read_bytes
from metabo.rules import is_number
from metabo.space import Float, Space
from metabo.tasks.tabular.table import Table

Grid = Literal["complete", "published"]

PUBLISHED_TEST = {
    "svm": (
        *("seismic", "housevotes", "letter", "sonar-scale", "wine", "haberman", "wisconsin"),
        *("winequality-red", "coil2000", "monk-2", "twonorm", "appendicitis", "kr-vs-k", "A9A"),
        "led7digit",
    ),
    "adaboost": (
        *("segment", "appendicitis", "shuttle", "tic-tac-toe", "car", "usps", "colon-cancer"),
        *("crx", "german-numer", "ijcnn1", "kr-vs-k", "letter", "magic", "monk-2", "phoneme"),
    ),
}
"""Test data sets of the paper."""

_TWINS = (("diabetes", "pima"),)
"""Names of the same data, measured twice, which no fold may separate. (The paper's split separates
others, such as australian and crx for AdaBoost; that is kept.)"""


@dataclass(frozen=True)
class Layout:
    """Meaning of the indices in a line."""

    name: str
    """Name of the table."""
    parameters: tuple[str, ...]
    """Names of the parameters."""
    indices: tuple[int, ...]
    """Index of each parameter."""
    required: int | None
    """Index that a line must have to be used; any line is used if None."""
    budget: int
    """Number of evaluations in an episode."""


SVM = Layout("svm", ("C", "gamma"), (3, 4), required=0, budget=20)
ADABOOST = Layout("adaboost", ("iterations", "product_terms"), (0, 1), required=None, budget=15)

Line = tuple[float, dict[int, float]]
_LONGEST_LINE = 2**20


def is_sparse(folder: Path) -> bool:
    """Tell whether the folder's first file looks like a published table."""
    files = _files(folder)
    if not files:
        return False
    start = read_bytes(files[0], "table", most=_LONGEST_LINE).decode(errors="replace")
    _, *pairs = start.partition("\n")[0].split() or [""]
    return bool(pairs) and all(":" in pair for pair in pairs)


def read_sparse(folder: Path, *, grid: Grid = "complete") -> Table:
    """Read the published files in a folder; the paper's test data sets are held out for testing.

    Raises:
        DataError: If a file cannot be read, or its content is not valid.
    """
    lines = {path.name: _lines(path) for path in _files(folder)}
    layout = SVM if _has_kernels(next(iter(lines.values()))) else ADABOOST
    cells = {name: _cells(parsed, layout, grid, folder / name) for name, parsed in lines.items()}
    configurations = tuple(sorted({c for known in cells.values() for c in known}))
    datasets = tuple(sorted(cells))
    measured = [[cells[d].get(c, math.nan) for c in configurations] for d in datasets]
    tested = _tested(layout, datasets)
    learned = {c for name, known in cells.items() if name not in tested for c in known}
    axes = list(zip(*learned, strict=True)) or [(0.0,)] * len(layout.parameters)
    for parameter, axis in zip(layout.parameters, axes, strict=True):
        if len(set(axis)) < 2:
            raise DataError(
                f"The files to learn from in `{shown(folder)}` must have at least two different "
                f"values of `{parameter}`, but have {len(set(axis)) if learned else 0}. Add lines."
            )
    space = Space({n: Float(min(a), max(a)) for n, a in zip(layout.parameters, axes, strict=True)})
    for name in tested:
        _require_inside(space, cells[name], folder / name)
    return Table(
        space,
        datasets,
        configurations,
        torch.tensor(measured, dtype=torch.float64),
        "maximize",
        tested,
        layout.budget,
        tuple(group for group in _TWINS if set(group) <= set(datasets)),
    )


def _tested(layout: Layout, datasets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paper's test data sets, or none if there are no others to learn from."""
    tested = tuple(name for name in PUBLISHED_TEST[layout.name] if name in datasets)
    return () if len(tested) == len(datasets) else tested


def _require_inside(space: Space, cells: Iterable[tuple[float, ...]], path: Path) -> None:
    """Raise unless a test data set lies in the ranges, which it does not affect."""
    for configuration in cells:
        for (name, axis), value in zip(space.parameters.items(), configuration, strict=True):
            if not isinstance(axis, Float) or not axis.low <= value <= axis.high:
                raise DataError(
                    f"`{shown(path)}` is held out for testing and has {value} as parameter "
                    f"`{name}`, which is {axis} according to the files to learn from. Leave the "
                    "line out."
                )


def _files(folder: Path) -> list[Path]:
    found = [path for path in entries(folder, "table folder") if not path.name.startswith(".")]
    return [path for path in found if kind_of(path, "table") == "file"]


def _lines(path: Path) -> list[Line]:
    found = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        try:
            result, *pairs = line.split()
            fields = {int(i): float(v) for i, v in (pair.split(":") for pair in pairs)}
            found.append((float(result), fields))
        except ValueError:
            raise DataError(
                f"`{shown(path)}`, line {number}, must be a number and `index:value` pairs, but "
                f"is `{shown(line)}`."
            ) from None
        for value in (found[-1][0], *found[-1][1].values()):
            if not is_number(value):
                raise DataError(
                    f"`{shown(path)}`, line {number}, must have finite numbers, but has {value}. "
                    "Leave the line out."
                )
    if not found:
        raise DataError(f"`{shown(path)}` is empty. Leave it out of the folder.")
    return found


def _text(path: Path) -> str:
    return read_bytes(path, "table").decode(errors="replace")


def _has_kernels(lines: Iterable[Line]) -> bool:
    """Tell whether each line has exactly one of the three kernel indicators."""
    return all([f[i] for i in (0, 1, 2) if i in f] == [1.0] for _, f in lines)


def _cells(
    lines: list[Line], layout: Layout, grid: Grid, path: Path
) -> dict[tuple[float, ...], float]:
    cells: dict[tuple[float, ...], float] = {}
    for result, fields in lines:
        if layout.required is not None and layout.required not in fields:
            continue
        if grid == "published" and any(i not in fields for i in layout.indices):
            continue
        configuration = tuple(fields.get(i, 0.0) for i in layout.indices)
        if cells.setdefault(configuration, result) != result:
            raise DataError(
                f"`{shown(path)}` gives the configuration {configuration} two results, "
                f"{cells[configuration]} and {result}. Keep one of them."
            )
    return cells
