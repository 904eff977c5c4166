"""Steps until the median regret is at a threshold, over ranges of a family's parameters."""

from metabo.evaluation.table import Row, Table, names, numbers
from metabo.paper.job import Job
from metabo.paper.kinds.kind import Kind, Picture
from metabo.paper.medians import regret_record
from metabo.paper.results import Record, Stored
from metabo.paper.threshold import first_step, steps_cell


def run(job: Job) -> Record:
    """Regret on each task, all in lockstep."""
    return regret_record(job.evaluated())


def tables(stored: Stored) -> list[Table]:
    """Steps to the threshold, range by range."""
    experiment, size = stored.experiment, stored.size
    rows: list[Row] = [
        (
            family.partition("=")[2],
            *(
                steps_cell(stored.result(family, method), experiment.threshold, size.budget)
                for method in experiment.methods
            ),
        )
        for family in experiment.families
    ]
    title = (
        f"Trials until the median regret over {size.tasks} pendula is at most "
        f"{experiment.threshold:g} (90 % interval), by the share of the nominal masses and lengths"
    )
    return [Table.of(title, [*names("share"), *numbers(experiment.methods)], rows)]


def figure(stored: Stored) -> Picture:
    """Steps to the threshold over the range's lower end; open markers where it is not reached."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    from metabo.evaluation.plots import entitle, styles

    experiment, budget = stored.experiment, stored.size.budget
    figure = Figure(figsize=(6.4, 4.4), layout="constrained", dpi=120)
    axes = figure.subplots()
    shown = styles(list(experiment.methods))
    for number, method in enumerate(experiment.methods):
        found = ((family, stored.result(family, method)) for family in experiment.families)
        points = [
            (_lower_end(family), first_step(result, experiment.threshold))
            for family, result in found
            if result is not None
        ]
        colour, dash, width = shown[method]
        marker = "os"[number % 2]
        x, y = [p[0] for p in points], [p[1] for p in points]
        axes.plot(x, y, color=colour, linestyle=dash, linewidth=width, marker=marker, label=method)
        lost = [p for p in points if p[1] > budget]
        axes.plot(
            [p[0] for p in lost], [p[1] for p in lost], marker, color="white", mec=colour, ls=""
        )
    axes.axvspan(0.75, 1.05, color="grey", alpha=0.15, linewidth=0, label="training range")
    axes.set_xlabel("f: masses and lengths are drawn from f to f + 0.2 of the nominal ones")
    axes.set_ylabel(f"trials to regret {experiment.threshold:g} (open: not reached)")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    entitle(figure, experiment.title)
    return figure


def _lower_end(family: str) -> float:
    return float(family.partition("=")[2].partition("..")[0])


KIND = Kind("reach", run, tables, figure)
