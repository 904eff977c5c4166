"""Heat maps of an acquisition function: over a square of points, and over mean and deviation.

Scores are coloured by rank, the share of a panel's points that score lower: the maximum of an AF
depends on nothing else, and AFs of different scales can be compared by eye.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from metabo.evaluation.plots import COLOURS, outside_legend
from metabo.explain.on_tasks import Episode, Explanation
from metabo.explain.plane import Plane
from metabo.explain.trace import Step, View

_VERMILION = COLOURS[1]
_VALUES, _SCORES, _STDS = "viridis", "cividis", "Blues"


def draw_maps(explanation: Explanation, episodes: Sequence[Episode], path: Path) -> None:
    """Draw truth, GP mean and deviation, AF and EI over two dimensions, a row per step."""
    (episode,) = episodes
    steps = episode.steps
    names = [n for n in _PANELS if n != "truth" or steps[0].views[0].truth is not None]
    figure = Figure(
        figsize=(1.85 * len(names) + 0.6, 1.75 * len(steps) + 1.6), layout="constrained"
    )
    grid = figure.subplots(len(steps), len(names), sharex=True, sharey=True, squeeze=False)
    value = _value_scale(steps)
    std = Normalize(0, max(float(s.views[0].std.max()) for s in steps))
    for row, step in zip(grid, steps, strict=True):
        view = step.views[0]
        for axes, name in zip(row, names, strict=True):
            data, scale, colours = {
                "truth": (view.truth, value, _VALUES),
                "GP mean": (view.mean, value, _VALUES),
                "GP deviation": (view.std, std, _STDS),
                "learned AF": (ranks(view.score.numpy()), Normalize(0, 1), _SCORES),
                "EI": (ranks(view.log_ei.numpy()), Normalize(0, 1), _SCORES),
            }[name]
            _map(axes, view, np.asarray(data), scale, colours)
            _marks(axes, step)
        row[0].set_ylabel(f"{step.heading}\n{explanation.axes[1]}", fontsize=9)
    for axes, name in zip(grid[0], names, strict=True):
        axes.set_title(name, fontsize=10)
    for axes in grid[-1]:
        axes.set_xlabel(explanation.axes[0])
    n_values = names.index("GP deviation")
    for columns, scale, colours, label in (
        (grid[:, :n_values], value, _VALUES, explanation.values),
        (grid[:, n_values : n_values + 1], std, _STDS, "deviation"),
        (grid[:, n_values + 1 :], Normalize(0, 1), _SCORES, "share of points that score lower"),
    ):
        figure.colorbar(
            ScalarMappable(scale, colours),
            ax=list(columns.flat),
            location="bottom",
            label=label,
            extend="min" if scale is value else "neither",
            shrink=0.9,
            aspect=28,
            pad=0.01,
        )
    outside_legend(figure, n_columns=4, fontsize=9)
    figure.suptitle(
        f"{explanation.headline}, {episode.title} (unit cube)",
        fontsize=11,
        wrap=True,
    )
    figure.savefig(path, dpi=110)


_PANELS = ("truth", "GP mean", "GP deviation", "learned AF", "EI")


def _map(axes: Axes, view: View, data: np.ndarray, scale: Normalize, colours: str) -> None:
    """Draw a square of points as an image, and a table as coloured dots."""
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.tick_params(labelsize=8)
    if view.per_side is None:
        x, y = view.x.numpy().T
        size = min(160.0, max(6.0, 5000 / len(x)))
        axes.scatter(
            x,
            y,
            c=data,
            norm=scale,
            cmap=colours,
            s=size,
            marker="s",
            edgecolors="#bbbbbb",
            linewidths=0.4,
        )
        return
    side = np.linspace(0, 1, view.per_side)
    _bands(axes, side, side, data.reshape(view.per_side, view.per_side).T, scale, colours)


def _bands(
    axes: Axes, x: np.ndarray, y: np.ndarray, image: np.ndarray, scale: Normalize, colours: str
) -> None:
    """Draw an image in twenty colours, whose contours are easy to follow by eye."""
    levels = np.linspace(scale.vmin or 0.0, scale.vmax or 1.0, 21)
    axes.contourf(x, y, image, levels=levels, norm=scale, cmap=colours, extend="both")


def _marks(axes: Axes, step: Step) -> None:
    if len(step.seen_y):
        axes.plot(
            *step.seen_x.numpy().T,
            "o",
            color="white",
            markeredgecolor="black",
            markersize=4,
            markeredgewidth=0.8,
            linestyle="none",
            label="observed",
            clip_on=False,
        )
    axes.plot(
        *step.query.numpy()[:, None],
        "X",
        color=_VERMILION,
        markeredgecolor="white",
        markersize=9,
        markeredgewidth=1.0,
        linestyle="none",
        label="query of the step",
        clip_on=False,
    )


def draw_planes(explanation: Explanation, path: Path) -> None:
    """Draw EI and, below it, the learned AF at each place, a column per step."""
    steps = list(dict.fromkeys(plane.number for plane in explanation.planes))
    n = len(steps)
    rows = [explanation.planes[k : k + n] for k in range(0, len(explanation.planes), n)]
    figure = Figure(figsize=(1.75 * n + 1.6, 1.9 * (len(rows) + 1) + 1.2), layout="constrained")
    grid = figure.subplots(len(rows) + 1, n, sharex=True, sharey=True, squeeze=False)
    for column, plane in enumerate(rows[0]):
        _plane(grid[0, column], plane, plane.log_ei.numpy())
        grid[0, column].set_title(f"step {plane.number} of {plane.budget}", fontsize=10)
    for line, row in zip(grid[1:], rows, strict=True):
        for axes, plane in zip(line, row, strict=True):
            _plane(axes, plane, plane.score.numpy())
        line[0].set_ylabel(f"learned AF{_place(row[0])}\ndeviation (value)", fontsize=9)
    grid[0, 0].set_ylabel("EI\ndeviation (value)", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("mean (value)", fontsize=9)
    figure.colorbar(
        ScalarMappable(Normalize(0, 1), _SCORES),
        ax=list(grid.flat),
        aspect=40,
        label="share of the panel's points that score lower",
    )
    outside_legend(figure, n_columns=4, fontsize=9)
    figure.suptitle(
        f"{explanation.headline}, {explanation.episodes[0].title}: EI and the learned AF "
        "over mean and deviation",
        fontsize=11,
        wrap=True,
    )
    figure.savefig(path, dpi=110)


def _plane(axes: Axes, plane: Plane, scores: np.ndarray) -> None:
    _bands(axes, plane.mean.numpy(), plane.std.numpy(), ranks(scores), Normalize(0, 1), _SCORES)
    axes.set_yscale("log")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8)
    axes.axvline(plane.best, color="black", linestyle="--", linewidth=1.2, label="incumbent value")
    axes.plot(
        *([q] for q in plane.query),
        "X",
        color=_VERMILION,
        markeredgecolor="white",
        markersize=9,
        linestyle="none",
        label="the query's own mean and deviation",
        clip_on=False,
    )


def _place(plane: Plane) -> str:
    if plane.at is None:
        return ""
    numbers = ", ".join(f"{v:.3g}" for v in plane.at.tolist())
    return f" at x = {numbers}" if len(plane.at) == 1 else f" at ({numbers})"


def ranks(scores: np.ndarray) -> np.ndarray:
    """Return the share of scores below each, counting ties half; 0.5 if all are equal."""
    flat = scores.ravel()
    # Rounding errors must not create an order among equal scores.
    if flat.max() - flat.min() <= 1e-9 * max(1.0, abs(flat.max())):
        return np.full_like(scores, 0.5)
    order = np.sort(flat)
    below = (np.searchsorted(order, flat) + np.searchsorted(order, flat, side="right") - 1) / 2
    return (below / (len(flat) - 1)).reshape(scores.shape)


def _value_scale(steps: Sequence[Step]) -> Normalize:
    """Return a colour scale that starts at the 20 % quantile, to make maxima distinguishable."""
    views = [step.views[0] for step in steps]
    parts = [v.mean if v.truth is None else v.truth for v in views]
    values = np.concatenate([part.numpy() for part in parts])
    low, high = np.quantile(values, 0.2), values.max()
    return Normalize(low, high if high > low else low + 1)
