"""Tables of stored results, ours beside the published numbers; nothing is computed here."""

from collections.abc import Callable, Mapping

from metabo.evaluation.table_summary import marks, table_rows
from metabo.paper import study_sheets
from metabo.paper.catalogue import Experiment, Kind, ScaleName
from metabo.paper.published import REGRET, SECONDS, STEPS, TUNED
from metabo.paper.sheet import NOTHING, Results, Sheet


def sheets(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    """The tables of an experiment; methods without a stored result have dashes."""
    return _SHEETS[experiment.kind](experiment, scale, results)


def _regret(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    size = experiment.scales[scale]
    steps = sorted({*(t for t in STEPS if t <= size.budget), size.budget})
    made = []
    for family in experiment.families:
        rows = []
        for method in experiment.methods:
            record = results.get((family, method))
            published = REGRET.get((family, method), ())
            cells = []
            for number, t in enumerate(steps):
                ours = NOTHING if record is None else f"{record['result']['median'][t - 1]:.1e}"
                theirs = f" ({published[number]:.1e})" if number < len(published) else ""
                cells.append(ours + theirs)
            rows.append((method, *cells))
        title = f"{family}: median simple regret over {size.tasks} tasks"
        if any(where == family for where, _ in REGRET):
            title += (
                " (in brackets the published program's, over its own 100 functions, which are "
                "others of the same family)"
            )
        made.append(Sheet(title, ("method", *(f"t={t}" for t in steps)), tuple(rows)))
    return made


def _table(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    size = experiment.scales[scale]
    steps = marks(size.budget)
    made = []
    for family in experiment.families:
        records = {m: r["result"] for (where, m), r in results.items() if where == family}
        title = (
            f"{family}: mean simple regret on {size.tasks} data sets kept for testing (90 % "
            "interval over data sets)"
        )
        columns = ("method", *(f"t={t}" for t in steps), f"unsolved at t={size.budget}")
        made.append(Sheet(title, columns, tuple(table_rows(records, experiment.methods, steps))))
    return made


def _seconds(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    rows = []
    for method in experiment.methods:
        cells = []
        for number, family in enumerate(experiment.families):
            record = results.get((family, method))
            ours = NOTHING if record is None else f"{record['result']['seconds_per_episode']:.2g}"
            cells.append(f"{ours} ({SECONDS[method][number]:g})")
        rows.append((method, *cells))
    size = experiment.scales[scale]
    title = (
        f"Seconds per episode of {size.budget} steps, one thread, mean of {size.tasks} "
        "(the paper's, T = 30, in brackets)"
    )
    return [Sheet(title, ("method", *experiment.families), tuple(rows))]


def _tuning(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    rows = []
    for family in experiment.families:
        for method in experiment.methods:
            record, theirs = results.get((family, method)), TUNED[family, method]
            total = {} if record is None else record["result"]["total"]
            best = f":{NOTHING}" if record is None else record["result"]["best"]
            ours, paper = (
                setting.partition(":")[2].replace(":", " ") for setting in (best, theirs)
            )
            rows.append((family, method, ours, _total(total, best), paper, _total(total, theirs)))
    size = experiment.scales[scale]
    title = f"Best settings by median regret summed over the steps, {size.tasks} validation tasks"
    columns = ("family", "method", "ours", "sum", "the paper's", "sum")
    return [Sheet(title, columns, tuple(rows))]


def _total(total: Mapping[str, float], setting: str) -> str:
    return f"{total[setting]:.3g}" if setting in total else NOTHING


_SHEETS: dict[Kind, Callable[[Experiment, ScaleName, Results], list[Sheet]]] = {
    "regret": _regret,
    "seconds": _seconds,
    "tuning": _tuning,
    "table": _table,
    "control": study_sheets.control,
    "reach": study_sheets.reach,
    "heat": study_sheets.heat,
    "sources": study_sheets.sources,
    "strategy": study_sheets.strategy,
}
