"""Cross-validation over data sets: an estimate of how well a learned AF serves a new one.

The source data sets are divided into K folds. For each fold, an AF is learned from the other folds
and tested on the fold, beside methods that learn nothing and methods that need no model. The time
to stop is chosen within the training folds: probe runs hold out a few data sets each for
validation, then a final run learns from all of them and stops where further training made the
probe runs clearly worse. The probe runs of all folds together say when to stop on all sources.
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
"""Number of probe runs of a fold: the score on one small set of data sets is too noisy."""
METHODS = ("metabo", "ei", "taf-me", "taf-r", "portfolio", "mean-rank", "random")
LEAVE_ONE_OUT: Literal["leave-one-out"] = "leave-one-out"
Folds = int | Literal["leave-one-out"]
Progress = Callable[[str, int, int], None]
"""Called with what is running, the amount done and the total amount."""


@dataclass(frozen=True)
class CrossValidation:
    """The outcome of a cross-validation."""

    family: str
    """Name of the family, with the options given."""
    budget: int
    """Number of evaluations per data set."""
    datasets: tuple[str, ...]
    """Names of the data sets, fold by fold."""
    regret: dict[str, Float[Tensor, "R M T"]]
    """Regret by method, in each run on each data set, none of which the method had seen."""
    stops: tuple[int, ...]
    """Number of iterations after which the run of each fold stopped."""
    stop: int
    """Number of iterations after which to stop when learning from all data sets."""

    def record(self) -> dict[str, object]:
        """Return the outcome as stored in `crossvalidation.json`."""
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
    """Learn and test fold by fold, skipping what is already finished in the folder.

    All runs in the folder must have the same settings and data: an AF learned from other folds may
    have seen the data it is tested on. With several `jobs`, each process first imports the calling
    script, so the call must stand under `if __name__ == "__main__":`.

    Args:
        family: Family of tables, such as `svm` or `table:FOLDER`.
        out: Folder for the runs and the outcome, `crossvalidation.json`.
        folds: Number of folds, or `leave-one-out` for one fold per data set (data sets of one
            origin share a fold).
        methods: Names of the methods to test on each fold.
        validate: Number of data sets that each probe run holds out for validation; with 0 there
            are no probe runs, and every run follows the whole schedule.
        repeats: Number of runs of each method with different random numbers, which are averaged.
        jobs: Number of training runs at a time, each on one core.
        seed: Random seed for the folds, the training and the test runs.
        on_progress: Called from time to time with what is running, the amount done and the total.
        changes: Training settings that differ from the preset's.

    Returns:
        The regret of each method on each data set, and when to stop training.

    Raises:
        OptionError: If the family has no data sets, or an option does not fit.
        DataError: If the folder holds a cross-validation with other settings.
    """
    setting = family_of(family)
    data = setting.provenance
    if data is None:
        raise OptionError(
            f"Cross-validation needs a family of tables, but `{family}` has no data sets. Choose "
            "`svm`, `adaboost` or `table:FOLDER`."
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
    # Check the split and the methods before the first training run.
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
        # Only one network per probe run, to save time; alone it overfits sooner than a team.
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
    """Return the folder of a probe run."""
    return f"probe-{fold}-{turn}"


def _require_methods(methods: Sequence[str], target: TaskFamily) -> None:
    """Raise `OptionError` if a method's name or options are wrong."""
    require_methods(methods)
    search = searcher("gradient", target.domain, repeats=target.noise > 0)
    for text in methods:
        if text.strip() != "metabo":  # its artifact does not exist yet
            method_of(text, Setting(target, search))


def _configuration(family: str, usual: str, settings: Mapping[str, object]) -> TrainConfig:
    """Return the training configuration; the settings may name a preset."""
    changes = dict(settings)
    return preset_of(str(changes.pop("preset", None) or usual), family, **changes)


def _tell(on_progress: Progress | None, what: str, done: int, total: int) -> None:
    if on_progress is not None:
        on_progress(what, done, total)


def _begin(out: Path, settings: Mapping[str, object]) -> None:
    """Store the settings in a new folder, or require that an old one has the same."""
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
    # The shortest curve, of a run that stopped early, limits the comparison.
    return [
        (at[0][0], sum(score for _, score in at) / len(at)) for at in zip(*curves, strict=False)
    ]


def _best(curve: list[tuple[int, float]]) -> int:
    """Return the last iteration at which the curve is as high as anywhere, up to its noise.

    The score on a few data sets is noisy, and its maximum is luck. So training is cut short only
    where continuing made the score clearly worse: by more than the validations scatter around
    their moving average.
    """
    scores = torch.tensor([score for _, score in curve], dtype=torch.float64)
    windows = [scores[max(0, i - 1) : i + 2] for i in range(len(scores))]
    smooth = torch.stack([window.mean() for window in windows])
    noise = (scores - smooth).square().mean().sqrt()
    return max(at for (at, _), s in zip(curve, smooth, strict=True) if s >= smooth.max() - noise)


def _evaluated(
    fold: TaskFamily, methods: Sequence[str], folder: Path, repeats: int, seed: int
) -> Iterator[tuple[str, Tensor]]:
    """Yield the regret of each method on a fold's data sets, in several runs."""
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
