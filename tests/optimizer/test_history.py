"""Runs kept in a journal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from metabo import Choice, Float, Int, MetaBOError, Optimizer, Space
from metabo.acquisition import EI, Architecture, NeuralAF
from metabo.domain import Box
from metabo.errors import DataError, OptionError
from metabo.gp import Prior
from metabo.optimizer import repair
from metabo.policies import Maximize, searcher
from metabo.pretrained import save

SPACE = Space({"rate": Float(1e-4, 1.0, log=True), "n": Int(1, 9), "kind": Choice(("a", True))})
PRIOR = Prior.of([0.3] * 4, signal_variance=1.0, noise_variance=1 / 3e6)


def begin(path, **changes):
    settings = {"budget": 9, "seed": 5, "prior": PRIOR, "af": "ucb:beta=2"} | changes
    return Optimizer(SPACE, **settings, journal=path)


def run(optimizer, n):
    for step in range(n):
        params = optimizer.ask()
        if step == 1:
            optimizer.tell_failure(params)
        else:
            optimizer.tell(params, (7 * step) % 5 / 3)


@pytest.fixture
def path(tmp_path):
    """A journal of four evaluations."""
    with begin(tmp_path / "run.jsonl") as optimizer:
        run(optimizer, 4)
    return tmp_path / "run.jsonl"


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_replaying_a_journal_gives_the_same_next_proposal(tmp_path, n):
    with begin(tmp_path / "run.jsonl") as optimizer:
        run(optimizer, n)
        expected, history = optimizer.ask(), optimizer.history
    for again in (
        Optimizer.open(tmp_path / "run.jsonl", read_only=True),
        Optimizer.open(tmp_path / "run.jsonl"),
    ):
        assert again.history == history
        assert again.ask() == expected
        again.close()
    with begin(tmp_path / "run.jsonl") as optimizer:
        assert optimizer.ask() == expected


def test_an_artifacts_run_is_restored_with_all_its_settings(tmp_path):
    path = tmp_path / "run.jsonl"
    with Optimizer(af="branin", budget=7, direction="maximize", search="sobol", journal=path) as a:
        a.tell(a.ask(), 1.0)
        expected, settings = a.ask(), a.settings
    with Optimizer.open(path) as b:
        assert b.settings == settings
        assert b.ask() == expected
        assert b.prior_source.startswith("the artifact's own, with values as told; past tasks fit")


def test_a_journal_has_a_line_per_evaluation_that_people_can_read(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 5
    assert lines[0]["metabo_journal"] == 2
    assert lines[0]["space"]["kind"] == {"type": "choice", "values": ["a", True]}
    assert lines[0]["af"] == {"kind": "method", "name": "ucb:beta=2"}
    assert lines[0]["prior"]["noise_variance"] == [1 / 3e6]
    names = {"n", "prev", "kind", "number", "params", "x", "sum"}
    assert [set(line) - names for line in lines[1:3]] == [{"value"}, {"failed"}]
    assert all(set(line) >= names for line in lines[1:])


@pytest.mark.parametrize(
    ("params", "value"),
    [
        ({"rate": 0.5, "n": 2, "kind": "b"}, 1.0),
        ({"rate": 0.5, "n": 2}, 1.0),
        ({"rate": 0.5, "n": 2, "kind": "a"}, float("nan")),
        ({"rate": 0.5, "n": 2, "kind": "a"}, "1"),
    ],
)
def test_what_is_refused_leaves_the_journal_untouched(path, params, value, unchecked):
    with Optimizer.open(path) as optimizer:
        before = path.read_bytes()
        with pytest.raises(MetaBOError, match=r"\.$"):
            optimizer.tell(params, value)
        assert path.read_bytes() == before
        assert optimizer.n_told == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 6}, "`seed` 5, but 6 was given"),
        ({"budget": 10}, "`budget` 9, but 10 was given"),
        ({"direction": "maximize"}, "`direction` `minimize`, but `maximize` was given"),
        ({"af": "ucb:beta=3"}, "`af` `ucb:beta=2`, but `ucb:beta=3` was given"),
        ({"search": "sobol"}, "`search` `gradient`, but `sobol` was given"),
        ({"prior": "fitted"}, r"`prior` \{.*\}, but \{.*fitted.*\} was given"),
    ],
)
def test_other_settings_are_refused_and_the_first_is_named(path, changes, message):
    with pytest.raises(OptionError, match=f"was started with {message}"):
        begin(path, **changes)
    begin(path).close()  # it was let go


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda p: p | {"n": Int(1, 8)},
            r"parameter `n` Int\(low=1, high=9.*, but Int\(low=1, high=8.* was given",
        ),
        (
            lambda p: dict(reversed(p.items())),
            "parameters in the order .*'rate', 'n', 'kind'.*, but .*'kind'.* was given",
        ),
        (
            lambda p: p | {"more": Float(0.0, 1.0)},
            "no parameter `more`, but one of this name was given",
        ),
    ],
)
def test_another_space_is_refused(tmp_path, change, message):
    path = tmp_path / "run.jsonl"
    Optimizer(SPACE, budget=9, journal=path).close()
    with pytest.raises(OptionError, match=f"was started with {message}"):
        Optimizer(change(dict(SPACE.parameters)), budget=9, journal=path)


def test_an_artifact_may_move_but_not_change(tmp_path):
    file, path = tmp_path / "af.safetensors", tmp_path / "run.jsonl"
    card = {"prior": PRIOR.record(), "budget": [5, 5]}
    save(NeuralAF(Architecture(4, ("mean", "std"), (4,))), card, file)
    with Optimizer(SPACE, af=file, journal=path) as optimizer:
        expected = optimizer.ask()
    moved = file.rename(tmp_path / "moved.safetensors")
    with pytest.raises(DataError, match=r"There is no file .*af.safetensors"):
        Optimizer.open(path)
    with Optimizer.open(path, af=moved) as optimizer:
        assert optimizer.ask() == expected
    save(NeuralAF(Architecture(4, ("mean", "std"), (5,))), card, moved)
    with pytest.raises(OptionError, match=r"was started with `af` `.*`, but `.*` was given"):
        Optimizer.open(path, af=moved)


def test_an_af_without_a_name_has_to_be_given_again(tmp_path):
    path = tmp_path / "run.jsonl"
    policy = Maximize(EI(), searcher("gradient", Box(2)))
    Optimizer(Space.cube(2), af=policy, budget=3, journal=path).close()
    with pytest.raises(OptionError, match=r"has no name, of type `Maximize`. Give it as `af`"):
        Optimizer.open(path)
    with Optimizer.open(path, af=policy) as optimizer:
        assert optimizer.policy is policy


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"value": 1.0}, r"It must have \['params', 'value', 'x'\], but has \['value'\]"),
        ({"params": {"rate": 2.0}, "value": 1.0, "x": []}, "Parameter `rate`"),
        (
            {"params": {"rate": 1.0, "n": 1, "kind": "a"}, "value": 1.0, "x": [0.5]},
            r"`x` must be 4 numbers in \[0, 1\], but got \[0.5\]",
        ),
        (
            {"params": {"rate": 1.0, "n": 1, "kind": "a"}, "value": "?", "x": [1, 0.5 / 9, 1, 0]},
            "A value must be a finite number",
        ),
        (
            {"params": {"rate": 1.0, "n": 1, "kind": "a"}, "value": 1.0, "x": [0, 0, 1, 0]},
            r"`x` is \[0, 0, 1, 0\], which are not the parameters",
        ),
    ],
)
def test_a_line_that_is_no_evaluation_is_named(path, line, message, unchecked):
    version_1(path)
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(line)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=rf"Line 3 of the journal .*its run: {message}"):
        Optimizer.open(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("space", {"x": 1}),
        ("prior", {"kind": "?"}),
        ("af", None),
        ("direction", None),
        ("search", ["grid"]),
    ],
)
def test_an_unusable_header_is_named(path, key, value):
    version_1(path)
    lines = path.read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {key: value})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"Line 1 .*run.jsonl` has settings that cannot be used"):
        Optimizer.open(path)


def test_an_empty_file_has_no_run(path):
    path.write_text("")
    with pytest.raises(DataError, match=r"run.jsonl` is empty. Begin it with `metabo init`"):
        Optimizer.open(path)


def test_a_journal_of_format_1_goes_on_as_it_was(path, caplog):
    with Optimizer.open(path) as optimizer:
        expected, history = optimizer.ask(), optimizer.history
    version_1(path)
    with Optimizer.open(path) as optimizer:
        assert "is of format 1" in caplog.text
        assert (optimizer.ask(), optimizer.history) == (expected, history)
        optimizer.tell(expected, 4.0)
        # Its lines have no numbers that another line could refer to.
        for change in (
            lambda: optimizer.forget(1),
            lambda: optimizer.extend(12),
            optimizer.reserve,
        ):
            with pytest.raises(OptionError, match=r"journal of format 1.*--repair"):
                change()
    assert set(json.loads(path.read_text().splitlines()[-1])) == {"params", "value", "x"}
    repair(path, path.with_name("new.jsonl"))
    with Optimizer.open(path.with_name("new.jsonl")) as optimizer:
        assert optimizer.history == Optimizer.open(path).history
        optimizer.forget(1)
        assert [one.number for one in optimizer.history] == [2, 3, 4, 5]


def version_1(path):
    """Write the journal as it was before there were checksums."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0] = {"metabo_journal": 1} | {
        k: v for k, v in lines[0].items() if k not in ("metabo_journal", "lines", "id", "sum")
    }
    for number, line in enumerate(lines[1:], 1):
        assert line.pop("kind") == "tell"
        lines[number] = {k: line[k] for k in line if k in ("params", "value", "failed", "x")}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_many_work_on_one_journal_and_see_each_other(path):
    with Optimizer.open(path) as one, begin(path) as other:
        looking = Optimizer.open(path, read_only=True)
        one.tell({"rate": 0.5, "n": 2, "kind": "a"}, 1.0)
        other.tell({"rate": 0.5, "n": 3, "kind": "a"}, 2.0)
        assert [e.value for e in other.history[4:]] == [1.0, 2.0]
        assert one.n_told == 5
        assert one.ask() == other.ask() == looking.ask()
        assert one.history == other.history == looking.history
        with pytest.raises(MetaBOError, match="not open for writing"):
            looking.tell(looking.ask(), 1.0)
    with pytest.raises(MetaBOError, match=r"not open for writing. Open it again to change"):
        one.tell(one.history[0].params, 1.0)


@pytest.mark.slow
def test_kills_lose_no_acknowledged_value_and_double_none():
    code = "import json; from fault_cases.kills import kills; print(json.dumps([*kills(60, 1)]))"
    folder = Path(__file__).parents[2] / "benchmarks"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"},
    )
    reports = json.loads(done.stdout)
    assert [one["kills"] for one in reports] == [24, 12, 12, 6, 6]
    assert [one["failures"] for one in reports] == [0, 0, 0, 0, 0]
    assert all(one["acknowledged"] > 0 for one in reports)
