"""Pictures of results, and the look that all of them share."""

import textwrap
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from metabo.evaluation.results import Evaluation
from metabo.metrics import quantiles
from metabo.training.log import read_log

# Okabe and Ito's palette, which colour-blind people can tell apart, without yellow, which is
# hard to see on paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
_STYLES = {
    "metabo": (6, 0),
    "ei": (0, 0),
    "pi": (1, 1),
    "ucb": (2, 2),
    "logei": (3, 3),
    "random": (4, 4),
    "taf-r": (3, 2),
    "taf-me": (5, 3),
    "portfolio": (1, 0),
    "gmm-ucb": (1, 1),
    "mean-rank": (2, 1),
    "eps-greedy": (2, 2),
}
"""Numbers of each method's colour and of its first variant's dashes."""


LegendPlace = Literal["lower center", "outside lower center"]
_HANDLE_INCHES = 0.7
"""Width of a legend's line and of the space around an entry."""
_LETTERS_PER_INCH = 11.5
_TITLE_LETTERS_PER_INCH = 10.5


def plot_regret(evaluation: Evaluation, path: Path) -> None:
    """Draw the median simple regret over the steps with its 30 to 70 % band, on a log scale."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    curves = {
        name: quantiles(result.regret, [0.3, 0.5, 0.7]).numpy()
        for name, result in evaluation.methods.items()
    }
    draw_curves(axes, curves)
    axes.legend(frameon=False)
    axes.set_title(regret_title(evaluation))
    figure.savefig(path, dpi=150)


def regret_title(evaluation: Evaluation) -> str:
    """Return a title that names the family, the origin of the tasks and the search."""
    file = evaluation.task_file
    tasks = f"{evaluation.tasks} " + ("unseen tasks" if file is None else f"tasks from {file}")
    return f"{evaluation.family}: {tasks}, {evaluation.search} search"


def styles(names: list[str]) -> dict[str, tuple[str, Any, float]]:
    """Choose colour, dashes and width of each method: learned AFs are black, others fixed by name.

    Variants of one method share its colour and differ in their dashes.
    """
    chosen: dict[str, tuple[str, Any, float]] = {}
    seen: Counter[str] = Counter()
    for k, name in enumerate(names):
        base = name.partition(":")[0]
        kind = "metabo" if base.startswith("metabo") else base
        colour, dash = _STYLES.get(kind, (k % (len(COLOURS) - 1), k))
        width = 2.4 if kind == "metabo" else 1.6
        chosen[name] = (COLOURS[colour], DASHES[(dash + seen[kind]) % len(DASHES)], width)
        seen[kind] += 1
    return chosen


def draw_curves(axes: Axes, curves: Mapping[str, np.ndarray], *, is_log: bool = True) -> None:
    """Draw the 30 % quantile, median and 70 % quantile of each method over the steps."""
    if curves:
        floor = _floor(np.stack(list(curves.values()))) if is_log else -np.inf
        n_steps = next(iter(curves.values())).shape[-1]
        steps = np.arange(1, n_steps + 1)
        axes.set_xlim(1, max(2, n_steps))
    shown = styles(list(curves))
    for name, curve in curves.items():
        low, median, high = np.maximum(curve, floor)
        colour, dash, width = shown[name]
        alpha = 0.15 if len(curves) <= 7 else 0.07
        axes.fill_between(steps, low, high, color=colour, alpha=alpha, linewidth=0)
        axes.plot(steps, median, color=colour, linestyle=dash, linewidth=width, label=name)
    axes.set_yscale("log" if is_log else "linear")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("evaluations t")
    axes.set_ylabel("simple regret (median, 30-70 %)")
    axes.grid(visible=True, which="major", alpha=0.3)


def plot_tables(records: Mapping[str, Mapping[str, Any]], title: str, path: Path) -> None:
    """Write the picture of `tables_figure`."""
    tables_figure(records, title).savefig(path)


def tables_figure(records: Mapping[str, Mapping[str, Any]], title: str) -> Figure:
    """Draw the mean regret with bootstrap intervals, and the share of tasks not solved yet."""
    figure = Figure(figsize=(10.4, 4.4), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2)
    ends = ("low", "mean", "high")
    draw_curves(left, {name: np.array([r[k] for k in ends]) for name, r in records.items()})
    left.set_ylabel("simple regret (mean, 90 % interval)")
    shown = styles(list(records))
    for name, record in records.items():
        colour, dash, width = shown[name]
        steps, share = np.arange(1, len(record["unsolved"]) + 1), record["unsolved"]
        right.plot(steps, share, color=colour, linestyle=dash, linewidth=width, label=name)
    right.set_ylim(0, 1)
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.set_xlabel("evaluations t")
    right.set_ylabel("share of data sets whose best is not found")
    right.grid(visible=True, alpha=0.3)
    right.legend(frameon=False, fontsize="small")
    entitle(figure, title)
    return figure


def plot_training(log: Path, path: Path) -> None:
    """Draw the rewards of training batches and validations over the iterations of a log."""
    lines: list[dict[str, Any]] = [dict(line) for line in read_log(log)]
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.plot(
        [line["iteration"] for line in lines],
        [line["reward"] for line in lines],
        color=COLOURS[4],
        linewidth=1.0,
        label="training batch (sampled)",
    )
    scored = [line for line in lines if line["score"] is not None]
    axes.plot(
        [line["iteration"] for line in scored],
        [line["score"] for line in scored],
        color=COLOURS[1],
        marker="o",
        markersize=3,
        label="validation tasks (best candidate)",
    )
    axes.set_xlabel("iteration")
    axes.set_ylabel("mean reward per step")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def outside_legend(
    figure: Figure,
    place: LegendPlace = "outside lower center",
    *,
    n_columns: int | None = None,
    fontsize: float = 10,
) -> None:
    """Draw one legend for all panels, with each label once.

    Args:
        figure: The picture.
        place: Position of the legend.
        n_columns: Columns of the legend; as many as fit into the picture if None.
        fontsize: Size of the letters in points.
    """
    handles = dict[str, Artist]()
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        list(handles.values()),
        list(handles),
        loc=place,
        ncols=n_columns or _fitting_columns(list(handles), figure.get_figwidth()),
        fontsize=fontsize,
        frameon=False,
    )


def entitle(figure: Figure, title: str) -> None:
    """Give a picture a title, in lines of about the same length so that all of it fits."""
    width = int(figure.get_figwidth() * _TITLE_LETTERS_PER_INCH)
    n_lines = len(textwrap.wrap(title, width))
    while width > 1 and len(textwrap.wrap(title, width - 1)) == n_lines:
        width -= 1
    figure.suptitle(textwrap.fill(title, width))


def _fitting_columns(labels: list[str], inches: float) -> int:
    """Return how many columns of a legend fit; labels fill one column after another."""
    for n_columns in range(len(labels), 1, -1):
        n_rows, n_longer = divmod(len(labels), n_columns)
        starts = [i * n_rows + min(i, n_longer) for i in range(n_columns + 1)]
        columns = [labels[a:b] for a, b in pairwise(starts)]
        letters = sum(max(map(len, column)) for column in columns)
        if n_columns * _HANDLE_INCHES + letters / _LETTERS_PER_INCH <= inches:
            return n_columns
    return 1


def _floor(curves: np.ndarray) -> float:
    """Return the lower end of a log axis for regret 0: a tenth of the least positive value."""
    positive = curves[curves > 1e-15]
    return float(positive.min()) / 10 if positive.size else 1e-16
