"""Write the tables of README.md and docs/**/*.md that come from `results/`.

python docs/result_tables.py          rewrites what differs
python docs/result_tables.py --check  says what differs and exits with 1

A table belongs to the comment before it, `<!-- numbers: VIEW EXPERIMENT option=value ... -->`,
and a number in a sentence to those around it: `<!-- number: VIEW WORDS -->6<!-- -->`.
Where a result is missing the table has a dash, so that nothing outlives the numbers behind it.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metabo.evaluation.table_summary import table_rows
from metabo.paper.catalogue import EXPERIMENTS, experiment
from metabo.paper.page.claims import verdicts
from metabo.paper.page.evidence import Evidence
from metabo.paper.page.paper import paper
from metabo.paper.published import PENDULUM, PROGRAM_SECONDS, TUNED
from metabo.paper.runner import stored

ROOT = Path(__file__).parent.parent
PAGES = (
    ROOT / "README.md",
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if p.parent.name != "notebook"),
)
TABLE = re.compile(r"<!-- numbers: ([^>]+?) -->\n\n?((?:\|.*\n)+)")
NUMBER = re.compile(r"<!-- number: ([^>]+?) -->([^<]*)<!-- -->")
TITLES = {
    "branin": "Branin",
    "goldstein-price": "Goldstein-Price",
    "hartmann-3": "Hartmann-3",
}
NOTHING = "-"
Options = dict[str, str]
Rows = list[tuple[str, ...]]


def rewritten(text: str) -> str:
    """A page with its tables as the results have them."""

    def table(found: re.Match[str]) -> str:
        view, names, *words = found[1].split()
        options = dict(word.split("=", 1) for word in words)
        header, rows = VIEWS[view](names.split("+"), options)
        lines = [header, ("---",) * len(header), *rows]
        written = "".join(
            "|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|\n" for line in lines
        )
        # Markdown wants an empty line before a table.
        return f"<!-- numbers: {found[1]} -->\n\n{written}"

    def number(found: re.Match[str]) -> str:
        view, *words = found[1].split()
        return f"<!-- number: {found[1]} -->{NUMBERS[view](*words)}<!-- -->"

    return NUMBER.sub(number, TABLE.sub(table, text))


def medians(names: list[str], options: Options) -> tuple[tuple[str, ...], Rows]:
    """Median regret by step: `t=1,5` and, in this order, `methods=ei,metabo`.

    With `published=WORDS` the published program's numbers follow, where there are any.
    """
    steps = [int(t) for t in options["t"].split(",")]
    results = _results(names)
    families = list(dict.fromkeys(family for family, _ in results))
    rows: Rows = []
    for family in families:
        methods = _methods(names, options)
        for number, method in enumerate(methods):
            if (family, method) not in results:
                continue
            title = f"{TITLES.get(family, f'`{family}`')} " if number == 0 else ""
            record = results[family, method]
            cells = (_median(record, t, options) for t in steps)
            rows.append((f"{title}`{_short(method, options)}`", *cells))
            theirs = PENDULUM.get((family, method), {})
            if theirs and "published" in options:
                cells = (_number(theirs[t], options) if t in theirs else "" for t in steps)
                rows.append((f"`{method}`, {options['published'].replace('-', ' ')}", *cells))
    return ("", f"t = {steps[0]}", *map(str, steps[1:])), rows


def summary(names: list[str], options: Options) -> tuple[tuple[str, ...], Rows]:
    """Median regret at a few steps, a column per family."""
    steps = [int(t) for t in options["t"].split(",")]
    (one,) = (experiment(name) for name in names)
    results = _results(names)
    rows: Rows = []
    for method in _methods(names, options):
        cells = []
        for family in one.families:
            record = results.get((family, method))
            cells.append(
                NOTHING
                if record is None
                else ", ".join(f"{record['result']['median'][t - 1]:.1e}" for t in steps)
            )
        label = f"**`{method}`**" if method == "metabo" else f"`{method}`"
        rows.append((label, *cells))
    return ("method", *(TITLES[family] for family in one.families)), rows


def seconds(names: list[str], options: Options) -> tuple[tuple[str, ...], Rows]:
    """Seconds per episode, the published program's in brackets."""
    (one,) = (experiment(name) for name in names)
    results = _results(names)
    rows: Rows = []
    for method in _methods(names, options):
        cells = []
        for number, family in enumerate(one.families):
            record = results.get((family, method))
            ours = NOTHING if record is None else f"{record['result']['seconds_per_episode']:.2g}"
            theirs = PROGRAM_SECONDS.get(method)
            cells.append(f"{ours} ({theirs[number]:g})" if theirs else ours)
        rows.append((f"`{method}`", *cells))
    return ("", *(TITLES[family] for family in one.families)), rows


def tuning(names: list[str], _: Options) -> tuple[tuple[str, ...], Rows]:
    """The best settings, ours and the paper's."""
    rows: Rows = []
    for (family, method), record in _results(names).items():
        theirs = TUNED[family, method]
        total = {} if record is None else record["result"]["total"]
        best = NOTHING if record is None else record["result"]["best"]
        sums = (f"{total[s]:.3g}" if s in total else NOTHING for s in (best, theirs))
        ours, papers = sums
        rows.append((TITLES[family], f"`{best}`", ours, f"`{theirs}`", papers))
    return ("", "ours", "sum", "the paper's", "sum"), rows


def stabilized(names: list[str], options: Options) -> tuple[tuple[str, ...], Rows]:
    """The share of pendula kept up by trial t."""
    trials = [int(t) for t in options["t"].split(",")]
    rows: Rows = []
    for (family, method), record in _results(names).items():
        first = None if record is None else record["result"]["first_stabilized"]
        cells = (
            NOTHING if first is None else f"{sum(0 < f <= t for f in first) / len(first):.0%}"
            for t in trials
        )
        rows.append((f"`{family}`", f"`{method}`", *cells))
    return ("", "", f"t = {trials[0]}", *map(str, trials[1:])), rows


def ahead(names: list[str], options: Options) -> tuple[tuple[str, ...], Rows]:
    """The steps at which a method's median is below that of each of its rivals."""
    (one,) = (experiment(name) for name in names)
    results, rivals = _results(names), options["rivals"].split(",")
    rows: Rows = []
    for method in _methods(names, options):
        cells = []
        for family in one.families:
            records = [results.get((family, m)) for m in (method, *rivals)]
            curves = [r["result"]["median"] for r in records if r is not None]
            if len(curves) <= len(rivals):
                cells.append(NOTHING)
                continue
            at_each_step = enumerate(zip(*curves, strict=True), 1)
            cells.append(_ranges([t for t, (ours, *others) in at_each_step if ours < min(others)]))
        rows.append((f"`{method}`", *cells))
    return ("", *(TITLES[family] for family in one.families)), rows


def means(names: list[str], options: Options) -> tuple[tuple[str, ...], Rows]:
    """Mean regret on a table's data sets with its interval, and the share not solved."""
    found = {method: r["result"] for (_, method), r in _results(names).items() if r is not None}
    return _with_intervals(found, _methods(names, options), options)


def folds(names: list[str], options: Options) -> tuple[tuple[str, ...], Rows]:
    """As `means`, of a cross-validation that is kept in `results/cross-validation`."""
    path = ROOT / "results" / "cross-validation" / f"{names[0]}.json"
    records = json.loads(path.read_text())["methods"] if path.exists() else {}
    methods = options["methods"].split(",") if "methods" in options else list(records)
    return _with_intervals(records, methods, options)


def claims(_: list[str], __: Options) -> tuple[tuple[str, ...], Rows]:
    """The paper's claims, as the report judges them."""
    kept = {
        name: {key: record for key, record in _results([name]).items() if record is not None}
        for name in EXPERIMENTS
    }
    rows: Rows = [
        (f"{one.claim.text} ({one.claim.place})", one.claim.criterion, one.outcome, one.evidence)
        for one in verdicts(Evidence(EXPERIMENTS, kept))
    ]
    return ("claim", "criterion", "outcome", "numbers"), rows


def catalogue(_: list[str], __: Options) -> tuple[tuple[str, ...], Rows]:
    """Where each experiment stands in the paper, and how much of it is stored."""
    rows: Rows = []
    for name in EXPERIMENTS:
        records = _results([name]).values()
        n_stored = sum(record is not None for record in records)
        rows.append((paper(name)[0], f"`{name}`", f"{n_stored} of {len(records)}"))
    return ("in the paper", "experiment", "results stored"), rows


def places(names: list[str], options: Options) -> tuple[tuple[str, ...], Rows]:
    """Mean place among the methods by step, over all families and tasks; ties share theirs."""
    steps = [int(t) for t in options["t"].split(",")]
    methods, results = _methods(names, options), _results(names)
    families = list(dict.fromkeys(family for family, _ in results))
    missing = any(results[family, method] is None for family in families for method in methods)
    rows: Rows = []
    for method in methods:
        cells = []
        for t in steps if not missing else ():
            taken = []
            for family in families:
                at = {
                    m: [r[t - 1] for r in (results[family, m] or {})["result"]["regret"]]
                    for m in methods
                }
                for task, value in enumerate(at[method]):
                    others = [at[m][task] for m in methods if m != method]
                    taken.append(1 + sum((v < value) + 0.5 * (v == value) for v in others))
            cells.append(f"{sum(taken) / len(taken):.2f}")
        rows.append((f"`{_short(method, options)}`", *(cells or [NOTHING] * len(steps))))
    return ("mean rank", f"t = {steps[0]}", *map(str, steps[1:])), rows


def rank(name: str, family: str) -> str:
    """The place of the paper's setting of GMM-UCB among all that were tried."""
    record = _results([name])[family, "gmm-ucb"]
    if record is None:
        return NOTHING
    total = record["result"]["total"]
    return str(1 + sum(v < total[TUNED[family, "gmm-ucb"]] for v in total.values()))


def catches(name: str, family: str, method: str, rival: str, t: str) -> str:
    """The first step at which a method's median is that of a rival at step t, or less."""
    ours, theirs = (_results([name])[family, m] for m in (method, rival))
    if ours is None or theirs is None:
        return NOTHING
    wanted = theirs["result"]["median"][int(t) - 1]
    reached = [t for t, v in enumerate(ours["result"]["median"], 1) if v <= wanted]
    return str(reached[0]) if reached else "more"


NUMBERS: dict[str, Callable[..., str]] = {"rank": rank, "catches": catches}
VIEWS: dict[str, Callable[[list[str], Options], tuple[tuple[str, ...], Rows]]] = {
    "medians": medians,
    "summary": summary,
    "seconds": seconds,
    "tuning": tuning,
    "stabilized": stabilized,
    "ahead": ahead,
    "means": means,
    "folds": folds,
    "places": places,
    "claims": claims,
    "catalogue": catalogue,
}


def _with_intervals(
    records: dict[str, dict[str, Any]], methods: list[str], options: Options
) -> tuple[tuple[str, ...], Rows]:
    steps = [int(t) for t in options["t"].split(",")]
    header = ("", f"t = {steps[0]}", *map(str, steps[1:]), "unsolved")
    rows = table_rows(records, methods, steps)
    return header, [(f"`{method}`", *cells) for method, *cells in rows]


def _ranges(steps: list[int]) -> str:
    """As `1-3, 7`."""
    text = []
    for t in steps:
        if t - 1 not in steps:
            end = next(e for e in range(t, t + len(steps) + 1) if e + 1 not in steps)
            text.append(str(t) if end == t else f"{t}-{end}")
    return ", ".join(text) or "never"


def _results(names: list[str]) -> dict[tuple[str, str], dict[str, Any] | None]:
    """Of several experiments; what they share is taken from the first."""
    found: dict[tuple[str, str], dict[str, Any] | None] = {}
    for name in names:
        for unit in experiment(name).units("full"):
            found.setdefault((unit.family, unit.label), stored(unit, ROOT / "results"))
    return found


def _methods(names: list[str], options: Options) -> list[str]:
    if "methods" in options:
        return options["methods"].split(",")
    return list(dict.fromkeys(m for name in names for m in experiment(name).methods))


def _short(method: str, options: Options) -> str:
    return method.partition(":")[0] if "short" in options else method


def _median(record: dict[str, Any] | None, t: int, options: Options) -> str:
    return NOTHING if record is None else _number(record["result"]["median"][t - 1], options)


def _number(value: float, options: Options) -> str:
    """Two digits; without the zero before the point, or with an exponent where it is small."""
    if 0 < abs(value) < 1e-3:
        return f"{value:.1e}"
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{options.get('digits', 2)}g}")


def main() -> None:
    """Rewrite the pages, or say which would change."""
    is_check, n_changed = "--check" in sys.argv, 0
    for page in PAGES:
        before = page.read_text()
        after = rewritten(before)
        if after != before:
            n_changed += 1
            print(f"{page.relative_to(ROOT)} {'differs' if is_check else 'rewritten'}")
            if not is_check:
                page.write_text(after)
    sys.exit(1 if is_check and n_changed else 0)


if __name__ == "__main__":
    main()
