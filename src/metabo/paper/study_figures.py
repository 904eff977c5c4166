"""Pictures of the pendulum's experiments and of the studies, from stored results."""

import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from metabo.evaluation.plots import COLOURS, draw_curves, styles
from metabo.metrics import steps_to
from metabo.paper.catalogue import ALL_SOURCES, Experiment
from metabo.paper.runs import Record
from metabo.paper.sheet import Results
from metabo.paper.study_sheets import tasks_seen


def control(experiment: Experiment, results: Results) -> Figure:
    """Regret above, the share of pendula kept up below; a column per family."""
    n = len(experiment.families)
    figure = Figure(figsize=(max(6.4, 4.8 * n), 7.2), layout="constrained")
    panels = figure.subplots(2, n, squeeze=False, sharex=True)
    for column, family in enumerate(experiment.families):
        upper, lower = panels[:, column]
        records = {
            m: results[family, m]["result"] for m in experiment.methods if (family, m) in results
        }
        curves = {
            m: np.array([r[k] for k in ("q30", "median", "q70")]) for m, r in records.items()
        }
        draw_curves(upper, curves, is_log=False)
        upper.set_title(family)
        upper.set_xlabel("")
        shown = styles(list(records))
        for name, record in records.items():
            first = np.array(record["first_stabilized"])
            steps = np.arange(1, len(record["median"]) + 1)
            share = [((first > 0) & (first <= t)).mean() for t in steps]
            colour, dash, width = shown[name]
            lower.plot(steps, share, color=colour, linestyle=dash, linewidth=width, label=name)
        lower.set_ylim(-0.02, 1.02)
        lower.set_xlabel("trials t")
        lower.set_ylabel("share of pendula kept up")
        lower.grid(visible=True, alpha=0.3)
    _legend(figure)
    return figure


def reach(experiment: Experiment, results: Results) -> Figure:
    """Steps to the threshold over the range's lower end; open markers where it is not reached."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    budget = next(iter(results.values()))["configuration"]["budget"]
    for number, method in enumerate(experiment.methods):
        points = [
            (_lower_end(family), _steps(results[family, method], experiment.threshold))
            for family in experiment.families
            if (family, method) in results
        ]
        shares, steps = [p[0] for p in points], [p[1] for p in points]
        lost = [p for p in points if p[1] > budget]
        colour = COLOURS[number]
        axes.plot(shares, steps, color=colour, marker="os"[number % 2], label=method)
        axes.plot([p[0] for p in lost], [p[1] for p in lost], "o", color="white", mec=colour)
    axes.axvspan(0.75, 1.05, color=COLOURS[1], alpha=0.12, label="training range")
    axes.set_xlabel("f: masses and lengths are drawn from f to f + 0.2 of the nominal ones")
    axes.set_ylabel(f"trials to regret {experiment.threshold:g} (open: not reached)")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    return figure


def heat(experiment: Experiment, results: Results) -> Figure:
    """Steps by translation and scale: a column per family, a row per method."""
    n_rows, n_columns = len(experiment.methods), len(experiment.families)
    figure = Figure(figsize=(4.2 * n_columns, 3.7 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False)
    image = None
    for row, method in enumerate(experiment.methods):
        for column, family in enumerate(experiment.families):
            axes = panels[row, column]
            axes.set_title(f"{family}: {method}", fontsize=10)
            if (family, method) not in results:
                axes.text(0.5, 0.5, "not run", ha="center", transform=axes.transAxes)
                continue
            record = results[family, method]
            result, budget = record["result"], record["configuration"]["budget"]
            steps = np.array(result["steps"], dtype=float)
            steps[steps == 0] = np.nan
            x, y = np.array(result["translations"]), np.array(result["scales"])
            image = axes.pcolormesh(x, y, steps, cmap="viridis", vmin=1, vmax=budget)
            axes.add_patch(
                Rectangle((0, 0.9), 0.1, 0.2, fill=False, edgecolor=COLOURS[1], linewidth=2)
            )
            axes.set_xlabel("translation of each coordinate, magnitude")
            axes.set_ylabel("scale")
    if image is not None:
        figure.colorbar(image, ax=panels, label="steps (white: not reached)", shrink=0.8)
    return figure


def sources(experiment: Experiment, results: Results) -> Figure:
    """Steps over the number of source tasks, and how many the full version saw."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    found = [(r["configuration"]["sources"], r) for r in results.values()]
    limit = experiment.threshold
    fixed = sorted((int(m), _steps(r, limit)) for m, r in found if m != ALL_SOURCES)
    x, y = [f[0] for f in fixed], [f[1] for f in fixed]
    axes.plot(x, y, color=COLOURS[0], marker="o", label="M source tasks")
    for number, record in found:
        if number != ALL_SOURCES:
            continue
        seen = tasks_seen(record["result"]["training"], number)
        axes.axvline(max(seen, 1), color=COLOURS[1], linestyle="--")
        label = f"a new task every episode; {seen:,} seen at convergence"
        axes.plot([max(seen, 1)], [_steps(record, limit)], "s", color=COLOURS[1], label=label)
    if found:
        budget = found[0][1]["configuration"]["budget"]
        axes.axhline(budget + 1, color="grey", linewidth=0.8)
        axes.text(1, budget + 1, " not reached", va="bottom", fontsize=8, color="grey")
    axes.set_xscale("log")
    axes.set_ylim(0)
    axes.set_xlabel("number of source tasks M")
    axes.set_ylabel(f"steps to median regret {experiment.threshold:g}")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    return figure


def _steps(record: Record, threshold: float | None) -> int:
    """Steps to the threshold: one more than the budget where it is not reached."""
    median = torch.tensor([record["result"]["median"]], dtype=torch.float64)
    return int(steps_to(median, threshold or 0.0))


def _lower_end(family: str) -> float:
    return float(family.partition("=")[2].partition("..")[0])


def _legend(figure: Figure) -> None:
    handles = dict[str, Artist]()
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    n_columns = max(2, int(figure.get_figwidth() // 2.5))  # inches that a method's name takes
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=n_columns,
        frameon=False,
    )
