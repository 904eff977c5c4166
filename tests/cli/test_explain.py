import pytest

from metabo import Optimizer


@pytest.mark.slow
def test_explain_prints_decisions_and_draws_them(metabo, tmp_path):
    code, out, _ = metabo(
        "explain", "rhino-2", "--tasks", 2, "--budget", 4, "--steps", "1-2,4", "--out", tmp_path
    )
    assert code == 0
    assert "rhino-2, test task 2" in out
    assert "rank under EI" in out
    assert [line.split()[0] for line in out.splitlines() if " of " in line] == ["1", "2", "4"] * 2
    assert {p.name for p in tmp_path.iterdir()} == {"plane.png", "strategy.png"}


@pytest.mark.slow
def test_explain_takes_places_and_all_steps(metabo, tmp_path):
    options = ("--budget", 2, "--tasks", 1, "--steps", "all", "--at", "0.1,0.9")
    code, out, _ = metabo("explain", "branin", *options, "--out", tmp_path)
    assert code == 0
    assert "Wrote plane.png, episode-1.png in" in out


@pytest.mark.slow
def test_explain_shows_a_run_that_a_journal_keeps(metabo, tmp_path):
    journal = tmp_path / "run.jsonl"
    with Optimizer(af="branin", journal=journal) as optimizer:
        optimizer.tell(optimizer.ask(), 1.25)
        optimizer.tell_failure({"x1": 0.5, "x2": 0.125})
    code, out, _ = metabo("explain", "branin", "--run", journal, "--out", tmp_path / "out")
    assert code == 0
    assert "branin on run.jsonl, 2 of 30 evaluations" in out
    first, second = (
        line.split() for line in out.splitlines() if " of 3" in line and "on" not in line
    )
    assert "1.25" in first
    assert second[1:3] == ["0.5", "0.125"]
    assert "failed" in second
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"plane.png", "episode-1.png"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("branin", "--run", "r.jsonl", "--tasks", 3),
            "`--tasks` cannot be combined with `--run`",
        ),
        (("branin", "--run", "no.jsonl"), "The journal `no.jsonl` cannot be read"),
        (("branim",), "Did you mean `branin`"),
        (("branin", "--steps", "1;2"), "at most 10000 steps, but got `1;2`."),
        (("branin", "--steps", "5-3"), "at least one, but got []."),
        (("branin", "--steps", "99"), "in 1..30"),
        (("branin", "--at", "a,b"), "like `0.5,0.5`, but got `a,b`."),
        (("branin", "--at", "0.5"), "must end in an axis of size 2"),
        (("branin", "--family", "rhino-1"), "2 dimensions, but family `rhino-1` has 1"),
    ],
)
def test_explain_refuses_in_one_sentence(metabo, tmp_path, unchecked, options, message):
    code, out, err = metabo("explain", *options, "--out", tmp_path / "none")
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert not (tmp_path / "none").exists()
