"""The search for parameters of methods: the sum of the median regret for every setting."""

from collections.abc import Mapping

import numpy as np

from metabo.evaluation.numbers import rounded, significant
from metabo.evaluation.table import NOTHING, Column, Table, names
from metabo.options import parse
from metabo.paper.job import Job
from metabo.paper.kinds.kind import Kind, Picture
from metabo.paper.published import TUNED
from metabo.paper.results import Record, Stored


def run(job: Job) -> Record:
    """Median regret summed over the steps, for every setting; the least is the best."""
    total: dict[str, float] = {}
    for number, setting in enumerate(job.unit.settings):
        result = job.evaluated(setting, on_step=lambda *_: None)
        total[setting] = rounded(result.regret.quantile(0.5, 0).sum().item())
        job.on_step(number + 1, len(job.unit.settings))
    return {"total": total, "best": min(total, key=lambda setting: total[setting])}


def tables(stored: Stored) -> list[Table]:
    """The best setting of each method on each family, ours and the paper's."""
    rows = []
    for family in stored.experiment.families:
        for method in stored.experiment.methods:
            ours, our_sum, theirs, their_sum = best_settings(stored, family, method)
            rows.append((family, method, _options(ours), our_sum, _options(theirs), their_sum))
    title = (
        "Best settings by median regret summed over the steps, "
        f"{stored.size.tasks} validation tasks"
    )
    columns = [
        *names("family", "method"),
        Column("ours", "text"),
        Column("sum (ours)"),
        Column("the paper's", "text"),
        Column("sum (the paper's)"),
    ]
    return [Table.of(title, columns, rows)]


def best_settings(stored: Stored, family: str, method: str) -> tuple[str, str, str, str]:
    """Our best setting and its sum, then the paper's and its sum."""
    result, theirs = stored.result(family, method), TUNED[family, method]
    total: Mapping[str, float] = {} if result is None else result["total"]
    best = NOTHING if result is None else result["best"]
    ours_sum, theirs_sum = (
        significant(total[setting], 3) if setting in total else NOTHING
        for setting in (best, theirs)
    )
    return best, ours_sum, theirs, theirs_sum


def figure(stored: Stored) -> Picture:
    """The sum over the share w or epsilon: a panel per family, a curve per number of parts."""
    from matplotlib.figure import Figure

    from metabo.evaluation.plots import COLOURS, entitle, outside_legend, styles

    own = {name: style[0] for name, style in styles(["eps-greedy"]).items()}
    others = [colour for colour in COLOURS if colour not in own.values()]
    families = stored.experiment.families
    figure = Figure(figsize=(4.6 * len(families), 4.6), layout="constrained", dpi=120)
    for axes, family in zip(
        np.atleast_1d(figure.subplots(1, len(families))), families, strict=True
    ):
        for number, (label, points) in enumerate(_curves(stored, family).items()):
            shares, totals = zip(*points, strict=True)
            colour = own.get(label, others[number % len(others)])
            axes.plot(shares, totals, marker="o", markersize=3, color=colour, label=label)
        axes.set_title(family)
        axes.set_yscale("log")
        axes.set_xlabel("w or epsilon")
        axes.set_ylabel("median regret summed over the steps")
        axes.tick_params(axis="x", rotation=60)
        axes.grid(visible=True, alpha=0.3)
    outside_legend(figure)
    entitle(figure, stored.experiment.title)
    return figure


def _curves(stored: Stored, family: str) -> dict[str, list[tuple[str, float]]]:
    """By label of the curve: the share w or epsilon, and the sum."""
    curves: dict[str, list[tuple[str, float]]] = {}
    for result in stored.by_method(family).values():
        for setting, total in result["total"].items():
            name, options = parse(setting)
            components = options.get("components")
            label = f"{name}, {components} comp." if components else name
            share = options.get("w") or options["epsilon"]
            curves.setdefault(label, []).append((share, total))
    return curves


def _options(setting: str) -> str:
    """The options of a setting without the method's name."""
    return setting if setting == NOTHING else setting.partition(":")[2].replace(":", " ")


KIND = Kind("tuning", run, tables, figure)
