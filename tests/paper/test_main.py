import sys

import pytest

from metabo.paper import __main__ as paper
from metabo.paper.catalogue import Experiment, Scale


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    one = Experiment(
        "small", "", "regret", ("random", "metabo-50"), {"smoke": Scale(1, 1)}, ("rhino-1",)
    )
    monkeypatch.setattr(paper, "experiment", lambda _: one)

    def run(*words):
        given = ["small", "--scale", "smoke", "--out", str(tmp_path), *words]
        monkeypatch.setattr(sys, "argv", ["metabo.paper", *given])
        with pytest.raises(SystemExit) as stopped:
            paper.main()
        return stopped.value.code, *capsys.readouterr()

    return run


def test_it_runs_what_is_missing_and_names_what_cannot_run(run, tmp_path):
    code, out, _ = run()
    assert code == 1
    assert "small/smoke/rhino-1.random.json\n" in out
    assert "metabo-50.json cannot run: There is no artifact `rhino-1-50`" in out
    assert (tmp_path / "small/smoke/rhino-1.random.json").exists()
    assert "random" not in run()[1]


def test_it_can_be_limited_to_some_methods(run):
    assert run("--methods", "random")[:2] == (0, "small/smoke/rhino-1.random.json\n")


def test_a_mistake_is_one_sentence(run):
    code, _, err = run("--scale", "big")
    assert code == 2
    assert err == "Error: `scale` must be `smoke` or `full`, but got `big`.\n"


def test_the_trainings_of_a_study_can_be_printed_for_another_machine(monkeypatch, capsys):
    words = ["x", "sources-branin", "--commands", "--device", "cuda", "--artifacts", "here"]
    monkeypatch.setattr(sys, "argv", words)
    paper.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert lines[0].startswith("python -m metabo.training branin --preset default --seed 0")
    assert lines[0].endswith("--out here/branin-sources-1")
    assert "--sources" not in lines[-1]
