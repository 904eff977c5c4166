import json

import pytest
import torch

import metabo
from metabo.errors import OptionError
from metabo.evaluation.methods import identity
from metabo.paper import job
from metabo.paper.catalogue import EXPERIMENTS, Experiment, Scale, experiment, scale
from metabo.paper.results import missing, stored
from metabo.paper.runner import run
from metabo.pretrained import artifacts, read_card

SMALL = Experiment(
    "small", "A test", "regret", ("ei", "random"), {"smoke": Scale(3, 2)}, ("branin",)
)


def units(one=SMALL):
    return list(one.units("smoke"))


@pytest.mark.slow
def test_what_is_stored_is_what_evaluate_gives(tmp_path):
    assert not list(run(units(), tmp_path))
    evaluation = metabo.evaluate("branin", methods=["ei"], tasks=3, budget=2, search="grid")
    record = stored(units()[0], tmp_path)
    expected = evaluation.methods["ei"].regret
    got = torch.tensor(record["result"]["regret"], dtype=torch.float64)
    torch.testing.assert_close(got, expected, rtol=5e-3, atol=0)
    assert len(record["result"]["median"]) == 2
    assert record["configuration"]["tasks"] == 3
    assert {"versions", "commit", "device", "threads", "seconds"} <= record.keys()


def test_a_stopped_run_goes_on_where_it_stopped(tmp_path):
    def stop(unit, *_):
        if unit.method == "random":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run(units(), tmp_path, stop))
    assert [unit.method for unit in missing(units(), tmp_path)] == ["random"]
    first = (tmp_path / units()[0].path).read_bytes()
    assert not list(run(missing(units(), tmp_path), tmp_path))
    assert not missing(units(), tmp_path)
    assert (tmp_path / units()[0].path).read_bytes() == first


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"configuration": 1, "result": 1}'])
def test_a_file_that_says_nothing_counts_as_missing(tmp_path, content):
    path = tmp_path / units()[0].path
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert len(missing(units(), tmp_path)) == 2


def test_a_result_of_another_configuration_counts_as_missing(tmp_path):
    list(run(units(), tmp_path))
    path = tmp_path / units()[0].path
    record = json.loads(path.read_text())
    record["configuration"]["tasks"] = 99
    path.write_text(json.dumps(record))
    assert missing(units(), tmp_path) == units()[:1]


def test_what_cannot_run_is_named_and_the_rest_goes_on(tmp_path):
    lame = Experiment(
        "lame", "", "regret", ("metabo-50", "random"), {"smoke": Scale(1, 1)}, ("rhino-1",)
    )
    ((unit, reason),) = run(units(lame), tmp_path)
    assert unit.method == "metabo-50"
    assert "There is no artifact `rhino-1-50`" in reason
    assert missing(units(lame), tmp_path) == [unit]


def test_times_are_taken_one_episode_at_a_time_on_one_thread(tmp_path, monkeypatch):
    seen = []

    def evaluate(*_, tasks, seed, **options):
        seen.append((tasks, seed, torch.get_num_threads()))
        return original(*_, tasks=tasks, seed=seed, **options)

    original = job.evaluate
    monkeypatch.setattr(job, "evaluate", evaluate)
    one = Experiment("times", "", "seconds", ("random",), {"smoke": Scale(3, 2)}, ("branin",))
    before = torch.get_num_threads()
    list(run(units(one), tmp_path))
    assert seen == [(1, 0, 1), (1, 1, 1), (1, 2, 1)]
    assert torch.get_num_threads() == before
    assert len(stored(units(one)[0], tmp_path)["result"]["episodes"]) == 3


def test_parameters_are_chosen_on_validation_tasks(tmp_path):
    grid = {"eps-greedy": ("eps-greedy:epsilon=0", "eps-greedy:epsilon=1")}
    one = Experiment(
        "choice",
        "",
        "tuning",
        ("eps-greedy",),
        {"smoke": Scale(3, 3, grid)},
        ("branin",),
        stream="validation tasks",
    )
    list(run(units(one), tmp_path))
    result = stored(units(one)[0], tmp_path)["result"]
    for setting, total in result["total"].items():
        run_ = metabo.evaluate(
            "branin",
            methods=[setting],
            tasks=3,
            budget=3,
            search="grid",
            stream="validation tasks",
        )
        median = run_.methods[setting].regret.quantile(0.5, 0)
        assert total == pytest.approx(median.sum().item(), rel=5e-3)
    assert result["best"] == min(result["total"], key=result["total"].get)
    assert EXPERIMENTS["tuning"].stream == "validation tasks"


def test_unknown_experiments_and_scales_are_named():
    with pytest.raises(
        OptionError, match=r"Unknown experiment `figure2`. Did you mean `figure-2`"
    ):
        experiment("figure2")
    with pytest.raises(OptionError, match="`scale` must be `smoke` or `full`, but got `big`"):
        scale("big")


def test_a_method_is_told_apart_by_the_parameters_its_preset_gives():
    ours, papers = (identity(f"gmm-ucb:preset={p}", "branin") for p in ("tuned", "paper"))
    assert (ours["w"], ours["components"]) == ("0.33", "5")
    assert (papers["w"], papers["components"]) == ("0.22", "3")
    assert identity("gmm-ucb:w=0.5", "branin")["w"] == "0.5"
    assert identity("metabo", "svm")["artifact"] != identity("metabo", "rhino-1")["artifact"]


def test_results_stay_valid_when_an_artifact_is_written_again():
    (replaced,) = read_card(artifacts()["svm"])["replaces"]
    assert identity("metabo", "svm")["artifact"] == replaced[:16]
    assert identity("metabo", "svm", str(artifacts()["svm"])) == identity("metabo", "svm")
