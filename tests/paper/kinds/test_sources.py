import shlex
from pathlib import Path

import pytest

from metabo.paper.catalogue import ALL_SOURCES, EXPERIMENTS, Experiment, Scale
from metabo.paper.kinds.sources import command, configuration, run_folder
from metabo.paper.results import missing, stored
from metabo.paper.runner import run

RESULTS = Path(__file__).parents[3] / "results"

SMALL = Experiment(
    "s",
    "",
    "sources",
    ("metabo",),
    {
        "smoke": Scale(
            2,
            2,
            sources=("2", ALL_SOURCES),
            training=("preset=fast", "iterations=1", "episodes=8", "hidden=8", "budget=2"),
        )
    },
    ("branin",),
    search="gradient",
    threshold=0.1,
)


@pytest.mark.slow
def test_what_is_missing_is_trained_once_and_finished_runs_are_taken(tmp_path, unchecked):
    units, results, runs = list(SMALL.units("smoke")), tmp_path / "results", tmp_path / "runs"
    assert not list(run(units, results, artifacts=runs))
    assert not missing(units, results)
    two, every = (stored(unit, results)["result"] for unit in units)
    assert two["artifact"] != every["artifact"]
    assert two["training"]["config"]["sources"] == 2
    assert every["training"]["config"]["sources"] is None
    path = run_folder(units[0], runs) / "af.safetensors"
    before = path.stat().st_mtime_ns
    (results / units[0].path).unlink()
    assert not list(run(missing(units, results), results, artifacts=runs))
    assert path.stat().st_mtime_ns == before
    assert stored(units[0], results)["result"]["artifact"] == two["artifact"]
    path.replace(run_folder(units[1], runs) / "af.safetensors")
    ((_, reason),) = run(units[1:], results, artifacts=runs)
    assert "was not trained as the study asks: `sources` was 2, now None" in reason


@pytest.mark.parametrize("name", ["sources-branin", "sources-furuta"])
def test_the_command_trains_what_the_unit_wants(name, tmp_path, monkeypatch):
    from metabo.training import __main__ as training

    seen = []

    def recorded(config, out, **_):
        seen.append((config, out))

    monkeypatch.setattr(training, "run_training", recorded)
    for unit in EXPERIMENTS[name].units("full"):
        words = shlex.split(command(unit, tmp_path, "cuda"))
        assert words[:3] == ["python", "-m", "metabo.training"]
        monkeypatch.setattr("sys.argv", words[2:])
        training.main()
        assert seen.pop() == (configuration(unit, "cuda"), run_folder(unit, tmp_path))


@pytest.mark.parametrize("name", ["sources-branin", "sources-furuta"])
def test_stored_results_are_of_afs_trained_as_the_study_asks(name):
    found = [(unit, stored(unit, RESULTS)) for unit in EXPERIMENTS[name].units("full")]
    trained = [(unit, record["result"]["training"]) for unit, record in found if record]
    assert trained
    for unit, training in trained:
        config = training["config"]
        assert configuration(unit, config["device"]).first_difference(config) is None
