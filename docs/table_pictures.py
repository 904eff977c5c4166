"""Draw the accuracies of three data sets of each measured table.

python docs/table_pictures.py
"""

import csv
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "images"
TABLES = Path(__file__).parents[1] / "src" / "metabo" / "tasks" / "tables"
SHOWN = ("wdbc", "german", "vowel")


def draw(axes: Axes, table: str, dataset: str) -> None:
    """The accuracies of a data set over the grid, and a ring around the best."""
    with (TABLES / table / "accuracy.csv").open() as file:
        _, first, last, _ = next(csv.reader(file))
        rows = [row[1:] for row in csv.reader(file) if row[0] == dataset]
    names = [list(dict.fromkeys(row[side] for row in rows)) for side in (0, 1)]
    values = np.array([float(row[2]) for row in rows]).reshape(len(names[0]), len(names[1]))
    image = axes.imshow(values, origin="lower", aspect="auto", cmap="viridis")
    for y, x in np.argwhere(values == values.max()):
        axes.plot(x, y, "o", markerfacecolor="none", markeredgecolor="white", markersize=7)
    axes.set_xticks(range(len(names[1])), names[1], rotation=60, fontsize=7)
    axes.set_yticks(range(len(names[0])), names[0], fontsize=7)
    axes.set(xlabel=last, ylabel=first, title=f"{table}: {dataset}")
    axes.figure.colorbar(image, ax=axes)


def main() -> None:
    """Draw all."""
    figure = Figure(figsize=(12, 7), layout="constrained")
    for row, table in zip(figure.subplots(2, len(SHOWN)), ("svm", "adaboost"), strict=True):
        for axes, dataset in zip(row, SHOWN, strict=True):
            draw(axes, table, dataset)
    figure.savefig(FOLDER / "tables.png", dpi=110)


if __name__ == "__main__":
    main()
