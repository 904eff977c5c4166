"""How well will an AF learned from these data sets serve a new one? Told before it is used.

The source data sets are dealt to K folds. For each fold an AF is learned from the others and tried
on the fold, beside methods that learn nothing and methods that need no model. When to stop is
decided inside: first runs keep a few data sets each for validation, then one learns from all and
stops where going on made the first ones clearly worse. What the first runs of all folds tell
together is when to stop on all sources.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from metabo.errors import DataError, OptionError
from metabo.evaluation.evaluate import evaluate, require_methods
from metabo.evaluation.methods import method as method_of
from metabo.evaluation.results import versions
from metabo.evaluation.setting import Setting
from metabo.evaluation.table_summary import table_record
from metabo.evaluation.training_pool import TrainingRuns, scores
from metabo.inputs import parse_json, read_bytes
from metabo.options import parse
from metabo.policies import searcher
from metabo.rules import whole
from metabo.shapes import Float
from metabo.store import save_json, write_all
from metabo.tasks import TaskFamily
from metabo.tasks import family as family_of
from metabo.training import TrainConfig
from metabo.training import preset as preset_of
from metabo.version import commit

SETTINGS = "settings.json"
PROBES = 3
"""First runs of a fold: a few data sets alone make too noisy a score to stop by."""
METHODS = ("metabo", "ei", "taf-me", "taf-r", "portfolio", "mean-rank", "random")
LEAVE_ONE_OUT: Literal["leave-one-out"] = "leave-one-out"
Folds = int | Literal["leave-one-out"]
Progress = Callable[[str, int, int], None]
"""Told now and then: what is running, and how far it is of how much."""


@dataclass(frozen=True)
class CrossValidation:
    """What the folds showed."""

    family: str
    budget: int
    datasets: tuple[str, ...]
    regret: dict[str, Float[Tensor, "R M T"]]
    """Regret of each method on each data set, none of which it had seen, in each run."""
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
    folds: Folds = 7,
    methods: Sequence[str] = METHODS,
    validate: int = 5,
    repeats: int = 5,
    jobs: int = 2,
    seed: int = 0,
    on_progress: Progress | None = None,
    **changes: object,
) -> CrossValidation:
    """Learn and test fold by fold; what is finished in the folder is not done again.

    The folder must then hold runs with the same settings on the same data: an AF that was learned
    from other folds may have seen what it is tested on. With several `jobs` processes begin by
    importing the script that calls this: there the call must stand under
    `if __name__ == "__main__":`.

    Args:
        family: Of tables, such as `svm` or `table:FOLDER`.
        out: Folder for the runs and the outcome, `crossvalidation.json`.
        folds: How many, or `leave-one-out`: as many as there are data sets (those of one origin
            counted once).
        methods: To try on each fold.
        validate: Data sets that each first run of a fold keeps for validation; with 0 there are no
            first runs, and all follow the whole schedule.
        repeats: Runs of each method with other random numbers, which are averaged.
        jobs: Training runs at a time, each on one core.
        seed: Of the folds, the trainings and the runs.
        on_progress: Called now and then.
        changes: Settings of the training that differ from the preset's.
    """
    setting = family_of(family)
    data = setting.provenance
    if data is None:
        raise OptionError(
            f"Cross-validation deals data sets to folds, but `{family}` is not a family of tables."
        )
    if any(option in parse(family)[1] for option in ("fold", "folds", "validate", "turn")):
        raise OptionError(f"Leave `fold`, `folds`, `validate` and `turn` out of `{family}`.")
    if folds == LEAVE_ONE_OUT:
        folds = len(data.groups)
    whole(2, sum(map(len, data.groups))).require("folds", folds)
    names = [f"{family}:folds={folds}:fold={k}:seed={seed}" for k in range(folds)]
    turns = range(min(PROBES, folds - 1)) if validate else range(0)
    probes = {
        (k, turn): f"{name}:validate={validate}:turn={turn}"
        for k, name in enumerate(names)
        for turn in turns
    }
    # Every mistake in the split and the methods comes to light before the first training.
    built = [family_of(name) for name in names]
    for name in probes.values():
        family_of(name)
    whole(1, 1024).require("jobs", jobs)
    _require_methods(methods, built[0])
    settings: dict[str, object] = {"seed": seed, **changes}
    config = _configuration(family, setting.preset, settings)
    chosen = {"folds": folds, "validate": validate, "first runs": len(turns), **config.record()}
    _begin(out, {**chosen, "family": family, "data": data.sources.record()})
    iterations = {f"fold-{k}": config.end * config.members for k in range(folds)}
    iterations |= {_probe(*place): config.end for place in probes}
    runs = TrainingRuns(
        out,
        jobs,
        iterations,
        lambda done, total: _tell(on_progress, "training", done, total),
    )
    ends: list[dict[str, object]] = [{} for _ in names]
    curves = []
    if probes:
        # A team would tell better, in as many times the time: a network by itself overfits sooner.
        alone = settings | {"members": 1}
        runs.train({_probe(*place): (name, alone) for place, name in probes.items()})
        by_fold = [
            [scores(out / _probe(k, turn) / "log.jsonl") for turn in turns] for k in range(folds)
        ]
        ends = [{"stop_at": _best(_mean_curve(own))} for own in by_fold]
        curves = [curve for own in by_fold for curve in own]
    runs.train({f"fold-{k}": (name, settings | ends[k]) for k, name in enumerate(names)})
    stops = tuple(scores(out / f"fold-{k}" / "log.jsonl")[-1][0] for k in range(folds))
    datasets: list[str] = []
    parts: dict[str, list[Tensor]] = {method: [] for method in methods}
    _tell(on_progress, "testing", 0, folds)
    for k, fold in enumerate(built):
        assert fold.provenance is not None
        tested = fold.provenance.test
        datasets += tested
        folder = out / f"fold-{k}"
        write_all(folder, {"tasks.json": save_json([{"dataset": d} for d in tested])})
        for method, regret in _evaluated(fold, methods, folder, repeats, seed):
            parts[method].append(regret)
        _tell(on_progress, "testing", k + 1, folds)
    outcome = CrossValidation(
        family,
        setting.budget,
        tuple(datasets),
        {method: torch.cat(regrets, 1) for method, regrets in parts.items()},
        stops,
        _best(_mean_curve(curves)) if curves else max(stops),
    )
    write_all(out, {"crossvalidation.json": save_json(outcome.record())})
    return outcome


def _probe(fold: int, turn: int) -> str:
    """The folder of a first run."""
    return f"probe-{fold}-{turn}"


def _require_methods(methods: Sequence[str], target: TaskFamily) -> None:
    """Raise if a method's name or options are wrong."""
    require_methods(methods)
    search = searcher("gradient", target.domain, repeats=target.noise > 0)
    for text in methods:
        if text.strip() != "metabo":  # its artifact is yet to be learned
            method_of(text, Setting(target, search))


def _configuration(family: str, usual: str, settings: Mapping[str, object]) -> TrainConfig:
    """A training with these settings, with the usual preset unless they name one."""
    changes = dict(settings)
    return preset_of(str(changes.pop("preset", None) or usual), family, **changes)


def _tell(on_progress: Progress | None, what: str, done: int, total: int) -> None:
    if on_progress is not None:
        on_progress(what, done, total)


def _begin(out: Path, settings: Mapping[str, object]) -> None:
    """Write down what the runs in the folder are, or make sure that they are these."""
    path, given = out / SETTINGS, json.loads(json.dumps(settings))
    if not path.exists() and not any(out.glob("*-*/config.json")):
        write_all(out, {SETTINGS: save_json(given)})
        return
    try:
        stored = parse_json(read_bytes(path, "settings file"), "The settings file")
    except DataError:
        stored = {}
    known = stored if isinstance(stored, dict) else {}
    names = [name for name in (*given, *known) if known.get(name) != given.get(name)]
    if names:
        raise DataError(
            f"`{out}` holds a cross-validation with another `{names[0]}`. Choose another folder "
            "with `--out`, or remove that one."
        )


def _mean_curve(curves: Sequence[list[tuple[int, float]]]) -> list[tuple[int, float]]:
    # A run that lost patience has a shorter curve: beyond it there is nothing to compare.
    return [
        (at[0][0], sum(score for _, score in at) / len(at)) for at in zip(*curves, strict=False)
    ]


def _best(curve: list[tuple[int, float]]) -> int:
    """The last iteration at which the curve is as high as anywhere, but for its own noise.

    A few data sets make a noisy score, and its highest value is luck. So training is cut short
    only where going on made things clearly worse: by more than validations scatter around the mean
    of themselves and their neighbours.
    """
    scores = torch.tensor([score for _, score in curve], dtype=torch.float64)
    windows = [scores[max(0, i - 1) : i + 2] for i in range(len(scores))]
    smooth = torch.stack([window.mean() for window in windows])
    noise = (scores - smooth).square().mean().sqrt()
    return max(at for (at, _), s in zip(curve, smooth, strict=True) if s >= smooth.max() - noise)


def _evaluated(
    fold: TaskFamily, methods: Sequence[str], folder: Path, repeats: int, seed: int
) -> Iterator[tuple[str, Tensor]]:
    """The regret of each method on a fold's data sets, in several runs."""
    runs = [
        evaluate(
            fold,
            methods=methods,
            task_file=folder / "tasks.json",
            artifact=folder / "af.safetensors" if "metabo" in methods else None,
            seed=seed + repeat,
        )
        for repeat in range(repeats)
    ]
    for method in methods:
        yield method, torch.stack([run.methods[method].regret for run in runs])
