from dataclasses import replace
from pathlib import Path

import pytest

import metabo
from metabo.acquisition import Schedule
from metabo.errors import OptionError
from metabo.evaluation import Setting, method
from metabo.evaluation.transfer import PRESETS
from metabo.options import parse
from metabo.paper.catalogue import ALL_SOURCES, BENCHMARKS, EXPERIMENTS, SCALES
from metabo.paper.kinds import KINDS, kind_of
from metabo.paper.kinds.sources import configuration
from metabo.paper.published import REGRET, SECONDS, STEPS, TUNED
from metabo.paper.results import Stored, stored
from metabo.policies import searcher


@pytest.mark.slow
def test_every_unit_has_its_own_file_and_a_method_that_exists():
    units = [u for e in EXPERIMENTS.values() for s in SCALES for u in e.units(s)]
    assert len({u.path for u in units}) == len(units)
    names = {m for u in units for m in u.settings or (u.method,)}
    family = metabo.family("branin")
    for name in names:
        # An artifact named by an experiment may still have to be trained.
        if "N=200" not in name and "artifact=" not in name:
            method(name, Setting(family, searcher("grid", family.domain)))
    for name in {u.family for u in units}:
        metabo.family(name)


def test_results_from_before_there_were_studies_still_count():
    unit = next(EXPERIMENTS["figure-2"].units("full"))
    assert not {"artifact", "sources", "training"} & unit.configuration.keys()
    study = next(EXPERIMENTS["sources-branin"].units("full"))
    assert {"sources", "training"} <= study.configuration.keys()


def test_the_study_of_source_tasks_has_the_numbers_asked_for_and_trains_them_all_alike():
    units = list(EXPERIMENTS["sources-branin"].units("full"))
    assert {u.sources for u in units} >= {"1", "2", "5", "10", "20", "50", "100", ALL_SOURCES}
    configurations = {replace(configuration(u, "cpu"), sources=None) for u in units}
    assert len(configurations) == 1
    for unit in EXPERIMENTS["sources-furuta"].units("full"):
        assert configuration(unit, "cpu").reward == "linear"


def test_the_grid_is_the_papers():
    grid = EXPERIMENTS["tuning"].scales["full"].grid
    assert len(grid["gmm-ucb"]) == 11 * 5
    assert len(grid["eps-greedy"]) == 11
    for (_, name), setting in TUNED.items():
        assert setting in grid[name]


def test_the_papers_presets_are_its_table():
    expected = {
        "branin": ("0.22", 3, "linear"),
        "goldstein-price": ("0.22", 1, "0.55"),
        "hartmann-3": ("0.11", 2, "linear"),
    }
    paper = {f: (str(p.w), p.components, str(p.epsilon)) for f, p in PRESETS["paper"].items()}
    assert paper == expected
    for (family, name), setting in TUNED.items():
        _, options = parse(setting)
        w, components, epsilon = expected[family]
        if name == "gmm-ucb":
            assert options == {"w": w, "components": str(components)}
        else:
            assert options["epsilon"] == epsilon.replace("0.55", "0.56")


def test_published_numbers_fit_the_experiments():
    assert all(len(numbers) == len(STEPS) for numbers in REGRET.values())
    assert {f for f, _ in REGRET} == set(BENCHMARKS)
    assert set(SECONDS) == set(EXPERIMENTS["run-time"].methods)


TRAINING = {"config": {"episodes": 10}, "best_iteration": 12, "seconds": 5.0}
EPISODE = {"title": "one", "best": 3.0, "steps": [{"query": [0.123], "value": 2.0}]}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_report_shows_ours_beside_theirs_and_dashes_for_what_is_missing(name):
    one = EXPERIMENTS[name]
    family = one.families[0]
    result = {
        "regret": {"median": [0.123] * one.scales["full"].budget},
        "seconds": {"seconds_per_episode": 0.123},
        "control": {"median": [0.123] * 50, "first_stabilized": [0, 3, 50]},
        "reach": {"regret": [[4.0] * 11 + [0.12] * 19] * 3},
        "heat": {"threshold": 0.123, "scales": [0.1, 0.9], "steps": [[0, 1], [3, 0]]},
        "sources": {
            "median": [0.12] * 30,
            "regret": [[4.0] * 11 + [1e-4] * 19] * 3,
            "training": TRAINING,
        },
        "strategy": {"episodes": [EPISODE]},
        "table": {key: [0.123] * 20 for key in ("mean", "low", "high", "unsolved")},
        "tuning": {
            "total": {"gmm-ucb:w=0.22:components=3": 0.123},
            "best": "gmm-ucb:w=0.22:components=3",
        },
    }[one.kind]
    label = next(one.units("full")).label
    tables = kind_of(one.kind).tables(Stored(one, "full", {(family, label): {"result": result}}))
    cells = [cell for table in tables for row in table.texts for cell in row]
    assert any("0.12" in cell or "1.2e-01" in cell or cell == "12 (12 to 12)" for cell in cells)
    if one.kind != "strategy":
        assert any(cell.startswith("-") for cell in cells)
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_every_kind_is_registered_under_its_name_and_used():
    assert {one.kind for one in EXPERIMENTS.values()} == set(KINDS)
    with pytest.raises(OptionError, match=r"Unknown kind of experiment `regrets`"):
        kind_of("regrets")


def test_the_tuned_presets_are_what_the_stored_search_found():
    folder = Path(__file__).parents[2] / "results"
    for unit in EXPERIMENTS["tuning"].units("full"):
        record = stored(unit, folder)
        assert record is not None
        _, options = parse(record["result"]["best"])
        preset = PRESETS["tuned"][unit.family]
        if unit.method == "gmm-ucb":
            assert Schedule.read(options["w"]) == preset.w
            assert int(options["components"]) == preset.components
        else:
            assert Schedule.read(options["epsilon"]) == preset.epsilon
