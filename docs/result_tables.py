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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from metabo.evaluation.numbers import brief, scientific
from metabo.evaluation.table import NOTHING, Column, Table, names, numbers
from metabo.evaluation.table_summary import mean_table
from metabo.paper.catalogue import EXPERIMENTS, experiment
from metabo.paper.catalogue.places import place_of
from metabo.paper.claims import verdicts
from metabo.paper.kinds.control import shares
from metabo.paper.kinds.seconds import seconds_table
from metabo.paper.kinds.tuning import best_settings
from metabo.paper.published import PENDULUM, PROGRAM_SECONDS, TUNED
from metabo.paper.render.markdown import markdown
from metabo.paper.results import Record, Stored, read

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
Options = dict[str, str]


def rewritten(text: str) -> str:
    """A page with its tables as the results have them."""

    def table(found: re.Match[str]) -> str:
        view, experiments, *words = found[1].split()
        options = dict(word.split("=", 1) for word in words)
        made = VIEWS[view](experiments.split("+"), options)
        # Markdown wants an empty line before a table.
        return f"<!-- numbers: {found[1]} -->\n\n{markdown(made)}"

    def number(found: re.Match[str]) -> str:
        view, *words = found[1].split()
        return f"<!-- number: {found[1]} -->{NUMBERS[view](*words)}<!-- -->"

    return NUMBER.sub(number, TABLE.sub(table, text))


def medians(experiments: list[str], options: Options) -> Table:
    """Median regret by step: `t=1,5` and, in this order, `methods=ei,metabo`.

    With `published=WORDS` the published program's numbers follow, where there are any.
    """
    steps, stored, rows = _steps(options), _stored(experiments), []
    for family in stored.experiment.families:
        for number, method in enumerate(_methods(stored, options)):
            title = f"{TITLES.get(family, f'`{family}`')} " if number == 0 else ""
            result = stored.result(family, method)
            cells = (
                NOTHING if result is None else _brief(result["median"][t - 1], options)
                for t in steps
            )
            rows.append((f"{title}`{_short(method, options)}`", *cells))
            theirs = PENDULUM.get((family, method), {})
            if theirs and "published" in options:
                cells = (_brief(theirs[t], options) if t in theirs else "" for t in steps)
                rows.append((f"`{method}`, {options['published'].replace('-', ' ')}", *cells))
    return Table.of("", [Column("", "text"), *_at(steps)], rows)


def summary(experiments: list[str], options: Options) -> Table:
    """Median regret at a few steps, a column per family."""
    steps, stored, rows = _steps(options), _stored(experiments), []
    for method in _methods(stored, options):
        results = (stored.result(family, method) for family in stored.experiment.families)
        cells = (
            NOTHING if r is None else ", ".join(scientific(r["median"][t - 1]) for t in steps)
            for r in results
        )
        rows.append((f"**`{method}`**" if method == "metabo" else f"`{method}`", *cells))
    return Table.of("", [Column("method", "text"), *_by_family(stored)], rows)


def seconds(experiments: list[str], options: Options) -> Table:
    """Seconds per episode, the published program's in brackets."""
    stored = _stored(experiments)
    made = seconds_table(stored, _methods(stored, options), PROGRAM_SECONDS, "", "")
    return replace(made, columns=(*names(""), *_by_family(stored)))


def tuning(experiments: list[str], _: Options) -> Table:
    """The best settings, ours and the paper's."""
    stored = _stored(experiments)
    rows = [
        (TITLES[family], *best_settings(stored, family, method))
        for family in stored.experiment.families
        for method in stored.experiment.methods
    ]
    ours, theirs = names("ours", "the paper's")
    return Table.of("", [Column("", "text"), ours, Column("sum"), theirs, Column("sum")], rows)


def stabilized(experiments: list[str], options: Options) -> Table:
    """The share of pendula kept up by trial t."""
    trials, stored = _steps(options), _stored(experiments)
    rows = [
        (family, method, *shares(stored.result(family, method), trials))
        for family in stored.experiment.families
        for method in stored.experiment.methods
    ]
    return Table.of("", [*names("", ""), *_at(trials)], rows)


def ahead(experiments: list[str], options: Options) -> Table:
    """The steps at which a method's median is below that of each of its rivals."""
    stored, rivals, rows = _stored(experiments), options["rivals"].split(","), []
    for method in _methods(stored, options):
        cells = []
        for family in stored.experiment.families:
            found = (stored.result(family, m) for m in (method, *rivals))
            curves = [result["median"] for result in found if result is not None]
            if len(curves) <= len(rivals):
                cells.append(NOTHING)
                continue
            at_each_step = enumerate(zip(*curves, strict=True), 1)
            cells.append(_ranges([t for t, (ours, *others) in at_each_step if ours < min(others)]))
        rows.append((method, *cells))
    return Table.of("", [*names(""), *_by_family(stored)], rows)


def means(experiments: list[str], options: Options) -> Table:
    """Mean regret on a table's data sets with its interval, and the share not solved."""
    stored = _stored(experiments)
    (family,) = stored.experiment.families
    return _means(stored.by_method(family), _methods(stored, options), options)


def folds(experiments: list[str], options: Options) -> Table:
    """As `means`, of a cross-validation that is kept in `results/cross-validation`."""
    path = ROOT / "results" / "cross-validation" / f"{experiments[0]}.json"
    records = json.loads(path.read_text())["methods"] if path.exists() else {}
    methods = options["methods"].split(",") if "methods" in options else list(records)
    return _means(records, methods, options)


def claims(_: list[str], __: Options) -> Table:
    """The paper's claims, as the report judges them."""
    rows = [
        (f"{one.claim.text} ({one.claim.place})", one.claim.criterion, one.outcome, one.evidence)
        for one in verdicts({name: _stored([name]) for name in EXPERIMENTS})
    ]
    heads = ("claim", "criterion", "outcome", "numbers")
    return Table.of("", [Column(head, "text") for head in heads], rows)


def catalogue(_: list[str], __: Options) -> Table:
    """Where each experiment stands in the paper, and how much of it is stored."""
    rows = []
    for name in EXPERIMENTS:
        stored = _stored([name])
        rows.append((place_of(name)[0], name, f"{len(stored.results)} of {len(stored.units)}"))
    columns = [Column("in the paper", "text"), *names("experiment"), Column("results stored")]
    return Table.of("", columns, rows)


def places(experiments: list[str], options: Options) -> Table:
    """Mean place among the methods by step, over all families and tasks; ties share theirs."""
    steps, stored = _steps(options), _stored(experiments)
    families, methods = stored.experiment.families, _methods(stored, options)
    is_whole = all((family, m) in stored.results for family in families for m in methods)
    rows = []
    for method in methods:
        cells = []
        for t in steps if is_whole else ():
            taken = []
            for family in families:
                results = stored.by_method(family)
                at = {m: [r[t - 1] for r in results[m]["regret"]] for m in methods}
                for task, value in enumerate(at[method]):
                    others = [at[m][task] for m in methods if m != method]
                    taken.append(1 + sum((v < value) + 0.5 * (v == value) for v in others))
            cells.append(f"{sum(taken) / len(taken):.2f}")
        rows.append((_short(method, options), *(cells or [NOTHING] * len(steps))))
    return Table.of("", [*names("mean rank"), *_at(steps)], rows)


def rank(name: str, family: str) -> str:
    """The place of the paper's setting of GMM-UCB among all that were tried."""
    result = _stored([name]).result(family, "gmm-ucb")
    if result is None:
        return NOTHING
    total = result["total"]
    return str(1 + sum(v < total[TUNED[family, "gmm-ucb"]] for v in total.values()))


def catches(name: str, family: str, method: str, rival: str, t: str) -> str:
    """The first step at which a method's median is that of a rival at step t, or less."""
    ours, theirs = (_stored([name]).result(family, m) for m in (method, rival))
    if ours is None or theirs is None:
        return NOTHING
    wanted = theirs["median"][int(t) - 1]
    reached = [t for t, v in enumerate(ours["median"], 1) if v <= wanted]
    return str(reached[0]) if reached else "more"


NUMBERS: dict[str, Callable[..., str]] = {"rank": rank, "catches": catches}
VIEWS: dict[str, Callable[[list[str], Options], Table]] = {
    view.__name__: view
    for view in (
        medians,
        summary,
        seconds,
        tuning,
        stabilized,
        ahead,
        means,
        folds,
        places,
        claims,
        catalogue,
    )
}


def _means(records: dict[str, Record], methods: Iterable[str], options: Options) -> Table:
    steps = _steps(options)
    made = mean_table("", records, steps, methods=methods)
    return replace(made, columns=(*names(""), *_at(steps), Column("unsolved")))


def _steps(options: Options) -> list[int]:
    return [int(t) for t in options["t"].split(",")]


def _at(steps: Sequence[int]) -> list[Column]:
    return numbers([f"t = {steps[0]}", *map(str, steps[1:])])


def _by_family(stored: Stored) -> list[Column]:
    return numbers(TITLES[family] for family in stored.experiment.families)


def _ranges(steps: list[int]) -> str:
    """As `1-3, 7`."""
    text = []
    for t in steps:
        if t - 1 not in steps:
            end = next(e for e in range(t, t + len(steps) + 1) if e + 1 not in steps)
            text.append(str(t) if end == t else f"{t}-{end}")
    return ", ".join(text) or "never"


def _stored(experiments: list[str]) -> Stored:
    """Several experiments on the same families as one; what they share is the first one's."""
    found = [read(experiment(name), "full", ROOT / "results") for name in experiments]
    methods = dict.fromkeys(method for one in found for method in one.experiment.methods)
    results = {key: r for one in reversed(found) for key, r in one.results.items()}
    return Stored(replace(found[0].experiment, methods=tuple(methods)), "full", results)


def _methods(stored: Stored, options: Options) -> Sequence[str]:
    return options["methods"].split(",") if "methods" in options else stored.experiment.methods


def _short(method: str, options: Options) -> str:
    """Return a method's name; a short one has no options but its prior."""
    name, *others = method.split(":")
    return ":".join([name, *(o for o in others if "short" not in options or o[:6] == "prior=")])


def _brief(value: float, options: Options) -> str:
    return brief(value, int(options.get("digits", 2)))


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
