"""Pictures of an acquisition function: its steps over x, and the mean-deviation plane.

Curves over x are drawn here, maps in `maps`. Scores are scaled panel by panel, because only their
order within a step is meaningful.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from metabo.evaluation.plots import COLOURS, outside_legend
from metabo.explain.maps import draw_maps, draw_planes
from metabo.explain.on_tasks import Episode, Explanation
from metabo.explain.trace import Step, View

BLUE, VERMILION, GREEN, _, SKY, ORANGE, BLACK = COLOURS
_ROWS, _COLUMNS = 6, 3
"""Steps and episodes in one picture; further ones continue on more pages."""


def pictures(explanation: Explanation) -> dict[str, Callable[[Path], None]]:
    """Return functions that draw each picture to a path, by file name.

    `plane.png` shows the mean-deviation plane. In one dimension, `strategy.png` shows the episodes
    side by side; in more, `episode-K.png` shows one episode each.
    """
    episodes, is_line = explanation.episodes, _is_line(explanation)
    groups = (
        [("strategy", episodes[k : k + _COLUMNS]) for k in range(0, len(episodes), _COLUMNS)]
        if is_line
        else [(f"episode-{number}", (one,)) for number, one in enumerate(episodes, 1)]
    )
    is_map = not is_line and episodes[0].steps[0].views[0].axis is None
    draw = draw_maps if is_map else draw_curves_over_x
    drawn: dict[str, Callable[[Path], None]] = {"plane.png": partial(draw_planes, explanation)}
    pages = Counter[str]()
    for name, group in groups:
        for first in range(0, len(group[0].steps), _ROWS):
            part = [Episode(one.title, one.steps[first : first + _ROWS]) for one in group]
            pages[name] += 1
            file = f"{name}.png" if pages[name] == 1 else f"{name}-page-{pages[name]}.png"
            drawn[file] = partial(draw, explanation, part)
    return drawn


def draw_curves_over_x(explanation: Explanation, episodes: Sequence[Episode], path: Path) -> None:
    """Write the picture of `curves_over_x`."""
    curves_over_x(explanation, episodes).savefig(path)


def curves_over_x(explanation: Explanation, episodes: Sequence[Episode]) -> Figure:
    """GP, truth, AF and EI: a row per step, a column per episode, or per axis of one episode."""
    n_rows, is_line = len(episodes[0].steps), _is_line(explanation)
    axes = [explanation.axes[view.axis or 0] for view in episodes[0].steps[0].views]
    columns = [one.title for one in episodes] if is_line else [f"along {name}" for name in axes]
    figure, panels = _panels(n_rows, len(columns))
    limits = _limits([step for one in episodes for step in one.steps])
    for row in range(n_rows):
        for column, title in enumerate(columns):
            step = episodes[column if is_line else 0].steps[row]
            view = step.views[0 if is_line else column]
            upper, lower = panels[row][column]
            _values(upper, step, view)
            upper.set_ylim(*limits)
            upper.set_yticks(_ticks(*limits))
            _scores(lower, step, view)
            if row == 0:
                upper.set_title(title, fontsize=10)
            if column == 0:
                upper.set_ylabel(f"{step.heading}\n{explanation.values}", fontsize=8)
                lower.set_ylabel("score,\nscaled", fontsize=8)
            if row == n_rows - 1:
                name = axes[0 if is_line else column]
                lower.set_xlabel(f"{name} (unit cube)", fontsize=9)
    outside_legend(figure, "lower center", n_columns=4, fontsize=9)
    what = "" if is_line else f", {episodes[0].title}"
    kind = "step by step" if is_line else "slices through the incumbent"
    figure.suptitle(f"{explanation.headline}{what}: GP and scores, {kind}", fontsize=11, wrap=True)
    return figure


def _is_line(explanation: Explanation) -> bool:
    return len(explanation.axes) == 1


def _panels(n_rows: int, n_columns: int) -> tuple[Figure, list[list[tuple[Axes, Axes]]]]:
    """Create pairs of adjacent axes, one pair per step and column, placed in inches."""
    width, height = max(7.2, 2.3 * n_columns + 1.0), 1.85 * n_rows + 1.7
    figure = Figure(figsize=(width, height), dpi=110)
    grid = figure.add_gridspec(
        3 * n_rows - 1,
        n_columns,
        height_ratios=([2, 1, 0.22] * n_rows)[:-1],
        left=0.86 / width,
        right=1 - 0.12 / width,
        top=1 - 0.62 / height,
        bottom=1.02 / height,
        hspace=0,
        wspace=0.06,
    )
    panels = []
    for row in range(n_rows):
        line = []
        for column in range(n_columns):
            pair = [figure.add_subplot(grid[3 * row + k, column]) for k in (0, 1)]
            for axes in pair:
                axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
                axes.tick_params(labelsize=8, labelleft=column == 0, labelbottom=False)
            pair[1].tick_params(labelbottom=row == n_rows - 1)
            line.append((pair[0], pair[1]))
        panels.append(line)
    return figure, panels


def _limits(steps: Sequence[Step]) -> tuple[float, float]:
    """Return limits that cover truth, prior and observations; a GP may exceed them."""
    views = [(step, view) for step in steps for view in step.views]
    parts = [view.truth for _, view in views if view.truth is not None]
    for step, view in views:
        if step.number == 1 or view.truth is None:
            parts += [view.mean - view.std, view.mean + view.std]
    numbers = np.concatenate(
        [part.numpy() for part in parts] + [np.append(s.seen_y.numpy(), s.value) for s in steps]
    )
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    margin = 0.12 * (high - low) or 1.0
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Return a few round tick values, none so low that its label touches the panel below."""
    least = low + 0.07 * (high - low)
    return [v for v in MaxNLocator(5).tick_values(low, high) if least < v < high]


def _values(axes: Axes, step: Step, view: View) -> None:
    """Draw the posterior, the truth, the observations and the query."""
    along = view.axis or 0
    x, mean, std = view.x[:, along].numpy(), view.mean.numpy(), view.std.numpy()
    axes.fill_between(x, mean - std, mean + std, color=BLUE, alpha=0.18, linewidth=0, label=_BAND)
    axes.plot(x, mean, color=BLUE, linestyle="--", linewidth=1.2, label=_MEAN)
    if view.truth is not None:
        axes.plot(x, view.truth.numpy(), color=BLACK, linewidth=1.1, label=_TRUTH)
    # Only the incumbent lies on a slice.
    is_slice = view.axis is not None and len(step.seen_y) > 0
    which = [int(step.seen_y.argmax())] if is_slice else slice(None)
    axes.plot(
        step.seen_x[which, along].numpy(),
        step.seen_y[which].numpy(),
        "x",
        color=BLACK,
        markersize=6,
        markeredgewidth=1.8,
        label=_SEEN,
        clip_on=False,
    )
    at = float(step.query[along])
    axes.axvline(at, color=VERMILION, linestyle=":", linewidth=1.4, label=_QUERY)
    axes.plot(
        [at],
        [step.value],
        "o",
        color=VERMILION,
        markersize=5.5,
        fillstyle="none",
        markeredgewidth=1.5,
        label=_VALUE,
        clip_on=False,
    )
    axes.set_xlim(0, 1)
    axes.grid(visible=True, alpha=0.25)


def _scores(axes: Axes, step: Step, view: View) -> None:
    """Draw the scores of the AF and of EI, each scaled to [0, 1], query included."""
    along = view.axis or 0
    x = view.x[:, along].numpy()
    for values, at_query, colour, dash, label in (
        (view.log_ei.exp().numpy(), math.exp(step.log_ei), ORANGE, "--", _EI),
        (view.score.numpy(), step.score, GREEN, "-", _AF),
    ):
        scaled = _scaled(np.append(values, at_query))
        axes.plot(x, scaled[:-1], color=colour, linestyle=dash, linewidth=1.4, label=label)
        if label == _AF:
            axes.plot(
                [float(step.query[along])],
                scaled[-1:],
                "v",
                color=VERMILION,
                markersize=5,
                clip_on=False,
            )
    axes.axvline(float(step.query[along]), color=VERMILION, linestyle=":", linewidth=1.4)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.08, 1.15)
    axes.set_yticks([0, 1])
    axes.grid(visible=True, alpha=0.25)


def _scaled(values: np.ndarray) -> np.ndarray:
    """Scale values to [0, 1]; return 0.5 if all are equal."""
    low, high = values.min(), values.max()
    if high - low <= 1e-9 * abs(high):
        return np.full_like(values, 0.5)
    return (values - low) / (high - low)


_BAND, _MEAN, _TRUTH = "GP mean ± deviation", "GP mean", "truth"
_SEEN, _QUERY, _VALUE = "observed", "query", "its value"
_AF, _EI = "learned AF", "EI"
