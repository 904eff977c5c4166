"""Tables of the pendulum's experiments and of the studies, ours beside the published numbers."""

import torch

from metabo.metrics import bootstrap_steps
from metabo.paper.catalogue import ALL_SOURCES, Experiment, ScaleName
from metabo.paper.published import PENDULUM
from metabo.paper.runs import Record
from metabo.paper.sheet import NOTHING, Results, Sheet

REGRET_STEPS = (1, 5, 10, 20, 30, 50)
TRIALS = (1, 2, 3, 5, 10, 25, 50)


def control(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    """Regret over the trials, and how many pendula were kept up by then."""
    size = experiment.scales[scale]
    steps = regret_steps(size.budget)
    trials = [t for t in TRIALS if t <= size.budget]
    made = []
    for family in experiment.families:
        regret, stabilized = [], []
        for method in experiment.methods:
            record = results.get((family, method))
            theirs = PENDULUM.get((family, method), {})
            cells = []
            for t in steps:
                ours = NOTHING if record is None else f"{record['result']['median'][t - 1]:.3g}"
                cells.append(ours + (f" ({theirs[t]:.3g})" if t in theirs else ""))
            regret.append((method, *cells))
            stabilized.append((method, *_shares(record, trials)))
        made.append(
            Sheet(
                f"{family}: median simple regret over {size.tasks} pendula (in brackets the "
                "published program's, over 30 others)",
                ("method", *(f"t={t}" for t in steps)),
                tuple(regret),
            )
        )
        made.append(
            Sheet(
                f"{family}: share of {size.tasks} pendula kept up for the full time by some "
                "trial up to t",
                ("method", *(f"t={t}" for t in trials)),
                tuple(stabilized),
            )
        )
    return made


def reach(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    """Steps to the threshold, range by range."""
    size = experiment.scales[scale]
    rows = []
    for family in experiment.families:
        records = [results.get((family, method)) for method in experiment.methods]
        cells = [steps_of(experiment, record, size.budget) for record in records]
        rows.append((family.partition("=")[2], *cells))
    title = (
        f"Trials until the median regret over {size.tasks} pendula is at most "
        f"{experiment.threshold:g} (90 % interval), by the share of the nominal masses and lengths"
    )
    return [Sheet(title, ("share", *experiment.methods), tuple(rows))]


def heat(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    """How many cells are reached, and how soon in the two that training saw."""
    size = experiment.scales[scale]
    rows = []
    for family in experiment.families:
        for method in experiment.methods:
            record = results.get((family, method))
            if record is None:
                rows.append((family, method, *[NOTHING] * 4))
                continue
            result = record["result"]
            steps = torch.tensor(result["steps"])
            seen = steps[result["scales"].index(0.9), :2].tolist()
            reached = steps[steps > 0]
            rows.append(
                (
                    family,
                    method,
                    f"{result['threshold']:.2g}",
                    f"{len(reached)} of {steps.numel()}",
                    f"{reached.double().median():.0f}" if len(reached) else NOTHING,
                    ", ".join(str(n or f"more than {size.budget}") for n in seen),
                )
            )
    title = (
        f"Steps until the median regret over {size.tasks} tasks of a cell is at the threshold: "
        "the regret of the best 1 % of a Sobol grid"
    )
    columns = ("family", "method", "threshold", "cells reached", "median steps", "trained cells")
    return [Sheet(title, columns, tuple(rows))]


def sources(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    """Steps to the threshold by the number of source tasks, and how the AF was trained."""
    size = experiment.scales[scale]
    (family,) = experiment.families
    rows = []
    for number in size.sources:
        record = results.get((family, f"metabo:sources={number}"))
        if record is None:
            rows.append((number, *[NOTHING] * 4))
            continue
        result = record["result"]
        training = result["training"]
        rows.append(
            (
                number,
                steps_of(experiment, record, size.budget),
                f"{result['median'][-1]:.2g}",
                f"{tasks_seen(training, number)}",
                f"{training['seconds']:.0f}",
            )
        )
    title = (
        f"{family}: steps until the median regret over {size.tasks} tasks is at most "
        f"{experiment.threshold:g} (90 % interval), by the number M of source tasks"
    )
    columns = ("M", "steps", f"regret at t={size.budget}", "tasks seen", "training (s)")
    return [Sheet(title, columns, tuple(rows))]


def strategy(experiment: Experiment, scale: ScaleName, results: Results) -> list[Sheet]:
    """Where each run queried, what it got, and what the best value is."""
    made = []
    for family in experiment.families:
        record = results.get((family, "metabo"))
        episodes = [] if record is None else record["result"]["episodes"]
        rows = tuple(
            (
                one["title"],
                *(f"{step['query'][0]:.3f}: {step['value']:.3f}" for step in one["steps"]),
                f"{one['best']:.3f}",
            )
            for one in episodes
        )
        n_steps = len(episodes[0]["steps"]) if episodes else 0
        columns = ("run", *(f"step {t}" for t in range(1, n_steps + 1)), "best value")
        made.append(Sheet(f"{family}: query and value at each step", columns, rows))
    return made


def steps_of(experiment: Experiment, record: Record | None, budget: int) -> str:
    """The first step at which the median is at the threshold, with its interval, as text."""
    if record is None or experiment.threshold is None:
        return NOTHING
    regret = torch.tensor(record["result"]["regret"], dtype=torch.float64)
    low, steps, high = bootstrap_steps(regret, experiment.threshold)
    if low > budget:
        return f"more than {budget}"
    ends = ", ".join(str(s) if s <= budget else f"more than {budget}" for s in (low, high))
    whole = str(steps) if steps <= budget else f"more than {budget}"
    return f"{whole} ({ends.replace(', ', ' to ')})"


def tasks_seen(training: Record, number: str) -> int:
    """Different tasks met until the weights that were kept."""
    config = training["config"]
    seen = training["best_iteration"] * config["episodes"] // config.get("group", 1)
    return int(seen if number == ALL_SOURCES else min(seen, int(number)))


def regret_steps(budget: int) -> list[int]:
    """The steps to print, the last one among them."""
    return [t for t in REGRET_STEPS if t < budget] + [budget]


def _shares(record: Record | None, trials: list[int]) -> list[str]:
    if record is None:
        return [NOTHING] * len(trials)
    first = record["result"]["first_stabilized"]
    return [f"{sum(0 < f <= t for f in first) / len(first):.0%}" for t in trials]
