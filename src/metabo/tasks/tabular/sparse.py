"""The published SVM and AdaBoost tables: a folder with one file per data set, libsvm style.

A line is an accuracy and `index:value` pairs; the first few indices are the configuration, scaled
to [-1, 1], the others describe the data set. The format omits zeros, so an index that is absent
has the value 0. For the SVM, indices 0 to 2 tell the kernel (one is 1), 3 is C and 4 gamma; only
the RBF kernel's lines are used: 12 x 14 configurations. For AdaBoost 0 is the number of iterations
and 1 that of product terms: 12 x 9.

The program of the paper kept only lines that name both indices, and so lost the 25 SVM
configurations in which C or gamma is 0: `grid="published"` does the same.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from metabo.errors import DataError, shown
from metabo.errors import shown as short
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
"""The data sets that the paper tested on."""


_TWINS = (("diabetes", "pima"),)
"""Names under which the same data were measured twice: no fold may part them. (The paper's split
parts others, such as australian and crx for AdaBoost; that is kept.)"""


@dataclass(frozen=True)
class Layout:
    """Where a line keeps what."""

    name: str
    parameters: tuple[str, ...]
    indices: tuple[int, ...]
    required: int | None
    """Index of the indicator that a line must carry to be used."""
    budget: int


SVM = Layout("svm", ("C", "gamma"), (3, 4), required=0, budget=20)
ADABOOST = Layout("adaboost", ("iterations", "product_terms"), (0, 1), required=None, budget=15)

Line = tuple[float, dict[int, float]]
_LONGEST_LINE = 2**20


def is_sparse(folder: Path) -> bool:
    """Whether the folder's first file looks like a table of this kind."""
    files = _files(folder)
    if not files:
        return False
    start = read_bytes(files[0], "table", most=_LONGEST_LINE).decode(errors="replace")
    _, *pairs = start.partition("\n")[0].split() or [""]
    return bool(pairs) and all(":" in pair for pair in pairs)


def read_sparse(folder: Path, *, grid: Grid = "complete") -> Table:
    """The table of a folder of such files; the paper's test data sets are kept for testing."""
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
                f"The files to learn from in `{shown(folder)}` must have two different values of "
                f"`{parameter}` at least, but have {len(set(axis)) if learned else 0}. Add lines."
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
    """The paper's test data sets, unless there are no others to learn from."""
    tested = tuple(name for name in PUBLISHED_TEST[layout.name] if name in datasets)
    return () if len(tested) == len(datasets) else tested


def _require_inside(space: Space, cells: Iterable[tuple[float, ...]], path: Path) -> None:
    """What is kept for testing has no say in the ranges, so it must lie inside of them."""
    for configuration in cells:
        for (name, axis), value in zip(space.parameters.items(), configuration, strict=True):
            if not isinstance(axis, Float) or not axis.low <= value <= axis.high:
                raise DataError(
                    f"`{shown(path)}` is kept for testing and has {value} as parameter `{name}`, "
                    f"which by the files to learn from is {axis}. Leave the line out."
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
                f"is `{short(line)}`."
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
    """Whether each line has exactly one of the three kernel indicators."""
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
