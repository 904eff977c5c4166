"""What the page says of one experiment: tables with intervals, and where the numbers are from."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import torch

from metabo.metrics import bootstrap_median
from metabo.paper.catalogue import Experiment, ScaleName
from metabo.paper.page.paper import paper
from metabo.paper.published import PENDULUM, REGRET, STEPS
from metabo.paper.report import sheets
from metabo.paper.runner import stored
from metabo.paper.sheet import NOTHING, Results, Sheet
from metabo.paper.study_sheets import regret_steps


@dataclass(frozen=True)
class Section:
    """One experiment on the page."""

    experiment: Experiment
    place: str
    claim: str
    tables: tuple[Sheet, ...]
    facts: tuple[tuple[str, str], ...]
    """What was run: a word and its value."""
    missing: tuple[str, ...]
    """What was not run: family and method."""
    command: str
    results: Results


def section(experiment: Experiment, scale: ScaleName, folder: Path) -> Section:
    """All that is stored of an experiment."""
    units = list(experiment.units(scale))
    found = {(u.family, u.label): stored(u, folder) for u in units}
    results = {key: record for key, record in found.items() if record is not None}
    place, claim = paper(experiment.name)
    where = "" if folder == Path("results") else f" --out {quote(str(folder))}"
    return Section(
        experiment,
        place,
        claim,
        tuple(tables(experiment, scale, results)) if results else (),
        _facts(experiment, scale, results),
        tuple(f"{f}: {m}" for (f, m), record in found.items() if record is None),
        f"metabo report {experiment.name} --scale {scale}{where} --rerun",
        results,
    )


def tables(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    """As in the terminal, but regrets have intervals, and published ones rows of their own."""
    plain = sheets(experiment, scale, results)
    if experiment.kind == "regret":
        return [_with_intervals(experiment, scale, f, results) for f in experiment.families]
    if experiment.kind == "control":
        shares = [sheet for sheet in plain if "share of" in sheet.title]
        regrets = [_with_intervals(experiment, scale, f, results) for f in experiment.families]
        return [sheet for pair in zip(regrets, shares, strict=True) for sheet in pair]
    return plain


def _with_intervals(
    experiment: Experiment, scale: ScaleName, family: str, results: Results
) -> Sheet:
    size = experiment.scales[scale]
    is_control = experiment.kind == "control"
    usual = [t for t in STEPS if t < size.budget] + [size.budget]
    steps = regret_steps(size.budget) if is_control else usual
    rows = []
    for method in experiment.methods:
        record = results.get((family, method))
        if record is None:
            rows.append((method, *[NOTHING] * len(steps)))
        else:
            chosen = torch.tensor(record["result"]["regret"], dtype=torch.float64)
            ends = bootstrap_median(chosen[:, [t - 1 for t in steps]])
            rows.append((method, *(f"{m:.2g} ({a:.2g} to {b:.2g})" for a, m, b in ends.mT)))
        theirs = (
            PENDULUM.get((family, method), {})
            if is_control
            else dict(zip(STEPS, REGRET.get((family, method), ()), strict=False))
        )
        if theirs:
            cells = (f"{theirs[t]:.2g}" if t in theirs else NOTHING for t in steps)
            rows.append((f"{method}, published program", *cells))
    title = (
        f"{family}: median simple regret over {size.tasks} tasks, with a 90 % interval (bootstrap "
        "over tasks)"
    )
    return Sheet(title, ("method", *(f"t={t}" for t in steps)), tuple(rows))


def _facts(
    experiment: Experiment, scale: ScaleName, results: Results
) -> tuple[tuple[str, str], ...]:
    size = experiment.scales[scale]
    facts = [
        ("tasks", f"{size.tasks}{' in each cell' if experiment.kind == 'heat' else ''}"),
        ("budget", str(size.budget)),
        ("seed", str(experiment.seed)),
        ("search", experiment.search),
    ]
    if size.training:
        facts.append(("training", " ".join(size.training)))
    for key in ("device", "commit"):
        counts = Counter(str(record.get(key)) for record in results.values())
        facts.append((key, ", ".join(f"{name} ({n})" for name, n in counts.most_common())))
    seconds = sum(float(record.get("seconds", 0)) for record in results.values())
    facts.append(("run time", f"{seconds:,.0f} s for {len(results)} results"))
    return tuple(facts)
