"""How well will an AF learned from these data sets serve a new one? Told before it is used.

The source data sets are dealt to K folds. For each fold an AF is learned from the others and tried
on the fold, beside methods that learn nothing and methods that need no model. When to stop is
decided inside: a first run keeps a few of the other folds' data sets for validation, the second
learns from all of them and stops where the first did best. What the first runs tell together is
when to stop on all sources.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import torch
from torch import Tensor

from metabo.errors import OptionError
from metabo.experiments.evaluate import evaluate, versions
from metabo.experiments.tables import table_record
from metabo.options import parse
from metabo.shapes import Float
from metabo.store import save_json, write_all
from metabo.tasks import family as family_of
from metabo.tasks.tabular import TabularFamily
from metabo.training import Event, train
from metabo.version import commit

METHODS = ("metabo", "ei", "taf-me", "taf-r", "portfolio", "mean-rank", "random")
Progress = Callable[[str, int, int], None]
"""Told now and then: what is running, and how far it is of how much."""


@dataclass(frozen=True)
class CrossValidation:
    """What the folds showed."""

    family: str
    budget: int
    datasets: tuple[str, ...]
    regret: dict[str, Float[Tensor, "R M T"]]
    """Of each method on each data set, none of which it had seen, in each of several runs."""
    stops: tuple[int, ...]
    """After how many iterations each fold's run stopped."""
    stop: int
    """After how many to stop when learning from all."""

    def record(self) -> dict[str, object]:
        """As stored."""
        return {
            "family": self.family,
            "budget": self.budget,
            "datasets": list(self.datasets),
            "stops": list(self.stops),
            "stop": self.stop,
            "commit": commit(),
            "versions": versions(),
            "methods": {name: table_record(r) for name, r in self.regret.items()},
        }


def cross_validate(
    family: str,
    *,
    out: Path,
    folds: int = 7,
    methods: Sequence[str] = METHODS,
    validate: int = 5,
    repeats: int = 5,
    jobs: int = 2,
    seed: int = 0,
    on_progress: Progress | None = None,
    **changes: object,
) -> CrossValidation:
    """Learn and test fold by fold; what is finished in the folder is not done again.

    Args:
        family: Of tables, such as `svm` or `table:FOLDER`.
        out: Folder for the runs and the outcome, `crossvalidation.json`.
        folds: How many; as many as there are data sets leaves out one at a time.
        methods: To try on each fold.
        validate: Data sets that the first run of a fold keeps for validation.
        repeats: Runs of each method with other random numbers, which are averaged.
        jobs: Training runs at a time, each on one core.
        seed: Of the folds, the trainings and the runs.
        on_progress: Called now and then.
        changes: Settings of the training that differ from the preset's.
    """
    setting = family_of(family)
    if not isinstance(setting, TabularFamily):
        raise OptionError(
            f"Cross-validation deals data sets to folds, but `{family}` is not a family of tables."
        )
    if any(option in parse(family)[1] for option in ("fold", "folds", "validate")):
        raise OptionError(f"Leave `fold`, `folds` and `validate` out of `{family}`.")
    names = [f"{family}:folds={folds}:fold={k}:seed={seed}" for k in range(folds)]
    probes = [f"{name}:validate={validate}" for name in names]
    for name in probes:
        family_of(name)
    settings = {"seed": seed, **changes}
    run = _Runs(out, jobs, on_progress)
    run.train({f"probe-{k}": (name, settings) for k, name in enumerate(probes)})
    curves = [_scores(out / f"probe-{k}" / "log.jsonl") for k in range(folds)]
    stops = tuple(_best(curve) for curve in curves)
    run.train(
        {
            f"fold-{k}": (name, settings | {"stop_at": stop})
            for k, (name, stop) in enumerate(zip(names, stops, strict=True))
        }
    )
    datasets: list[str] = []
    parts: dict[str, list[Tensor]] = {method: [] for method in methods}
    for k, name in enumerate(names):
        tested = _tests(name)
        datasets += tested
        folder = out / f"fold-{k}"
        write_all(folder, {"tasks.json": save_json([{"dataset": d} for d in tested])})
        for method, regret in _evaluated(name, methods, folder, repeats, seed):
            parts[method].append(regret)
        if on_progress is not None:
            on_progress("testing", k + 1, folds)
    outcome = CrossValidation(
        family,
        setting.budget,
        tuple(datasets),
        {method: torch.cat(regrets, 1) for method, regrets in parts.items()},
        stops,
        _best([(i, s) for i, s in _mean_curve(curves)]),
    )
    write_all(out, {"crossvalidation.json": save_json(outcome.record())})
    return outcome


@dataclass(frozen=True)
class _Runs:
    """Training runs in folders of one place, several at a time."""

    out: Path
    jobs: int
    on_progress: Progress | None

    def train(self, runs: dict[str, tuple[str, dict[str, object]]]) -> None:
        """Train what is not finished; go on with what was begun."""
        left = {n: r for n, r in runs.items() if not (self.out / n / "af.safetensors").exists()}
        if not left:
            return
        if self.jobs == 1:
            for name, (family, settings) in left.items():
                _train(family, self.out / name, settings, lambda _: self._tell(runs))
            return
        # Fresh processes: a forked one could inherit locks of torch's threads.
        with ProcessPoolExecutor(
            self.jobs,
            mp_context=get_context("spawn"),
            initializer=torch.set_num_threads,
            initargs=(1,),
        ) as pool:
            waiting: set[Future[Path]] = {
                pool.submit(_train, family, self.out / name, settings)
                for name, (family, settings) in left.items()
            }
            while waiting:
                done, waiting = wait(waiting, timeout=1.0)
                for future in done:
                    future.result()
                self._tell(runs)

    def _tell(self, runs: dict[str, tuple[str, dict[str, object]]]) -> None:
        if self.on_progress is None:
            return
        kind = next(iter(runs)).split("-")[0]
        configs = [self.out / name / "config.json" for name in runs]
        known = [json.loads(p.read_text()) for p in configs if p.exists()]
        ends = [min(c["iterations"], c["stop_at"] or c["iterations"]) for c in known]
        logs = [self.out / name / "log.jsonl" for name in runs]
        done = sum(len(p.read_text().splitlines()) for p in logs if p.exists())
        total = sum(ends) + (len(runs) - len(ends)) * max(ends, default=1)
        self.on_progress(kind, done, total)


def _train(
    family: str,
    out: Path,
    settings: dict[str, object],
    on_event: Callable[[Event], None] | None = None,
) -> Path:
    is_begun = (out / "config.json").exists()
    return train(family, out=out, resume=is_begun, on_event=on_event, **settings)  # type: ignore[arg-type]


def _scores(log: Path) -> list[tuple[int, float]]:
    """The validations of a run: after how many iterations, and how good."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [(line["iteration"], line["score"]) for line in lines if line["score"] is not None]


def _mean_curve(curves: Sequence[list[tuple[int, float]]]) -> list[tuple[int, float]]:
    return [
        (at[0][0], sum(score for _, score in at) / len(at)) for at in zip(*curves, strict=True)
    ]


def _best(curve: list[tuple[int, float]]) -> int:
    """Where the curve, smoothed over three validations, is highest; the last of equals.

    A few data sets make a noisy score, and its highest value alone is luck.
    """
    scores = [score for _, score in curve]
    smooth = [
        sum(scores[max(0, i - 1) : i + 2]) / len(scores[max(0, i - 1) : i + 2])
        for i in range(len(scores))
    ]
    return max(zip(smooth, (iteration for iteration, _ in curve), strict=True))[1]


def _tests(name: str) -> tuple[str, ...]:
    family = family_of(name)
    assert isinstance(family, TabularFamily)
    return family.test_names


def _evaluated(
    name: str, methods: Sequence[str], folder: Path, repeats: int, seed: int
) -> Iterator[tuple[str, Tensor]]:
    """The regret of each method on a fold's data sets, in several runs."""
    runs = [
        evaluate(
            name,
            methods=methods,
            task_file=folder / "tasks.json",
            artifact=folder / "af.safetensors" if "metabo" in methods else None,
            seed=seed + repeat,
        )
        for repeat in range(repeats)
    ]
    for method in methods:
        yield method, torch.stack([run.methods[method].regret for run in runs])
