"""Pictures of experiments, from stored results."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metabo.evaluation.plots import COLOURS, draw_curves, plot_tables
from metabo.explain.curves import draw_curves_over_x
from metabo.explain.on_tasks import Explanation
from metabo.options import parse
from metabo.paper import study_figures
from metabo.paper.catalogue import Experiment, Kind
from metabo.paper.published import SECONDS
from metabo.paper.runs.strategy import episodes
from metabo.paper.sheet import Results
from metabo.tasks import family as family_of

_STUDIES: dict[Kind, Callable[[Experiment, Results], Figure]] = {
    "control": study_figures.control,
    "reach": study_figures.reach,
    "heat": study_figures.heat,
    "sources": study_figures.sources,
}


def plot_experiment(experiment: Experiment, results: Results, path: Path) -> None:
    """Write the picture of an experiment: PNG or SVG, by the path's suffix."""
    if experiment.kind == "strategy":
        _strategy(experiment, results, path)
        return
    if experiment.kind == "table":
        (family,) = experiment.families
        records = {
            m: results[family, m]["result"] for m in experiment.methods if (family, m) in results
        }
        plot_tables(records, experiment.title, path)
        return
    if experiment.kind in _STUDIES:
        figure = _STUDIES[experiment.kind](experiment, results)
    elif experiment.kind == "seconds":
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        _seconds(figure.subplots(), experiment, results)
    else:
        columns = min(3, len(experiment.families))
        rows = -(-len(experiment.families) // columns)
        figure = Figure(figsize=(4.6 * columns, 4.6 * rows), layout="constrained")
        panels = np.atleast_1d(figure.subplots(rows, columns)).flatten()
        for axes in panels[len(experiment.families) :]:
            axes.set_axis_off()
        for axes, family in zip(panels, experiment.families, strict=False):
            axes.set_title(family)
            if experiment.kind == "regret":
                _regret(axes, family, experiment, results)
            else:
                _tuning(axes, family, results)
        handles = dict[str, Artist]()
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=5,
            frameon=False,
        )
    figure.suptitle(experiment.title)
    figure.savefig(path, dpi=120)


def _strategy(experiment: Experiment, results: Results, path: Path) -> None:
    """GP, truth and scores: a row per step, a column per run."""
    (family,) = experiment.families
    runs = episodes(results[family, "metabo"]["result"])
    space = family_of(family).space
    draw_curves_over_x(Explanation(family, family, space, "value", runs, ()), runs, path)


def _regret(axes: Axes, family: str, experiment: Experiment, results: Results) -> None:
    curves = {
        method: np.array([results[family, method]["result"][k] for k in ("q30", "median", "q70")])
        for method in experiment.methods
        if (family, method) in results
    }
    draw_curves(axes, curves)


def _seconds(axes: Axes, experiment: Experiment, results: Results) -> None:
    """Ours as dots, the paper's as crosses, on the first family."""
    family = experiment.families[0]
    methods = [m for m in experiment.methods if (family, m) in results]
    rows = np.arange(len(methods))
    ours = [results[family, m]["result"]["seconds_per_episode"] for m in methods]
    axes.scatter(ours, rows, color=COLOURS[0], label="this package")
    axes.scatter(
        [SECONDS[m][0] for m in methods], rows, marker="x", color=COLOURS[1], label="the paper"
    )
    axes.set_yticks(rows, methods)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"seconds per episode on {family}")
    axes.grid(visible=True, axis="x", alpha=0.3)
    axes.legend(frameon=False)


def _tuning(axes: Axes, family: str, results: Results) -> None:
    """The sum over the share w or epsilon, a curve per number of components."""
    curves: dict[str, list[tuple[str, float]]] = {}
    for (where, _), record in results.items():
        if where != family:
            continue
        for setting, total in record["result"]["total"].items():
            name, options = parse(setting)
            components = options.get("components")
            label = f"{name}, {components} comp." if components else name
            share = options.get("w") or options["epsilon"]
            curves.setdefault(label, []).append((share, total))
    for number, (label, points) in enumerate(curves.items()):
        shares, totals = zip(*points, strict=True)
        axes.plot(
            shares,
            totals,
            marker="o",
            markersize=3,
            color=COLOURS[number % len(COLOURS)],
            label=label,
        )
    axes.set_yscale("log")
    axes.set_xlabel("w or epsilon")
    axes.set_ylabel("median regret summed over the steps")
    axes.tick_params(axis="x", rotation=60)
    axes.grid(visible=True, alpha=0.3)
