import json
import os
import shutil
import signal

import pytest
import torch

from metabo.errors import DataError, OptionError
from metabo.pretrained import load
from metabo.training import Trainer, TrainingInterrupted, preset, train
from metabo.training.ensemble import _begin

SMALL = {"episodes": 4, "iterations": 4, "validate_every": 2, "validation_tasks": 3}
SMALL |= {"n_global": 30, "budget": 3, "minibatches": 2, "hidden": (8, 8)}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_members_differ_and_their_mean_is_the_artifact(tmp_path):
    told = []
    path = train("branin", out=tmp_path, members=2, on_event=told.append, **SMALL)
    team = [load(str(tmp_path / f"member-{k}" / "af.safetensors")) for k in range(2)]
    features = torch.randn(5, team[0].shift.shape[0])
    scores = [af.score(features) for af in team]
    assert not torch.allclose(*scores)
    # Members are not judged one by one: if they differed, they could not be merged.
    assert [af.architecture.horizon for af in team] == [8, 8]
    assert load(str(path)).card["validation"]["score"].keys() == {"network", "residual"}
    torch.testing.assert_close(load(str(path)).score(features), torch.stack(scores).mean(0))
    assert [(e.iteration, e.iterations) for e in told] == [(k + 1, 8) for k in range(8)]


@pytest.mark.slow
def test_the_log_holds_means_over_members(tmp_path):
    train("branin", out=tmp_path, members=2, **SMALL)
    parts = [lines(tmp_path / f"member-{k}" / "log.jsonl") for k in range(2)]
    for mean, a, b in zip(lines(tmp_path / "log.jsonl"), *parts, strict=True):
        assert mean["iteration"] == a["iteration"]
        assert mean["reward"] == pytest.approx((a["reward"] + b["reward"]) / 2)
        assert (mean["score"] is None) == (a["score"] is None)


@pytest.mark.slow
def test_a_killed_team_goes_on_and_ends_with_the_same_weights(tmp_path):
    settings = SMALL | {"members": 2, "iterations": 2}
    whole = train("branin", out=tmp_path / "whole", **settings)
    for number in range(5):
        part = train("branin", out=tmp_path / "p", seconds=0.0, resume=number > 0, **settings)
    for a, b in zip(load(str(whole)).parameters(), load(str(part)).parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_folder_with_a_team_is_not_overwritten(team):
    with pytest.raises(DataError, match=r"already contains a training run"):
        train("branin", out=team, members=2, **SMALL)


def test_a_team_of_another_size_is_not_resumed(team):
    with pytest.raises(DataError, match=r"`members` was 2, now 3"):
        train("branin", out=team, members=3, resume=True, **SMALL)


def test_what_was_never_begun_cannot_be_resumed(tmp_path):
    with pytest.raises(DataError, match=r"no training run"):
        train("branin", out=tmp_path, members=2, resume=True, **SMALL)


def test_a_single_run_does_not_overwrite_a_team(team):
    with pytest.raises(DataError, match=r"already contains a training run"):
        train("branin", out=team, **SMALL)


def test_time_must_not_be_negative(tmp_path):
    with pytest.raises(OptionError, match=r"`seconds` must be a finite number of at least 0"):
        train("branin", out=tmp_path, members=2, seconds=-5.0, **SMALL)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A team of which each member has done three of four iterations."""
    folder = tmp_path_factory.mktemp("team")
    for number in range(2):
        config = preset("default", "branin", seed=number, **SMALL)
        trainer = Trainer(config, folder / f"member-{number}")
        seen = []
        with pytest.raises(TrainingInterrupted):
            trainer.run(on_event=lambda e, s=seen: s.append(e) or (len(s) == 3 and interrupt()))
    config = preset("default", "branin", members=2, **SMALL)
    (folder / "config.json").write_text(json.dumps(config.record()))
    return folder


@pytest.fixture
def team(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "team")


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 99_999, None])
def test_a_team_with_a_damaged_configuration_goes_on(team, caplog, text):
    (team / "config.json").unlink()
    if text is not None:
        (team / "config.json").write_text(text)
    _begin(preset("default", "branin", members=2, **SMALL), team / "config.json", resume=True)
    assert json.loads((team / "config.json").read_text())["members"] == 2
    assert "It is rewritten, and training continues." in caplog.text


def test_a_team_of_which_only_a_damaged_configuration_is_left_says_what_to_do(tmp_path):
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(
        DataError, match=r"must be JSON.* Remove the file to start over, or choose"
    ):
        train("branin", out=tmp_path, members=2, resume=True, **SMALL)
    (tmp_path / "config.json").unlink()
    _begin(preset("default", "branin", members=2, **SMALL), tmp_path / "config.json", resume=False)


@pytest.mark.slow
def test_a_team_that_lost_a_configuration_and_lines_of_a_log_goes_on(team):
    (team / "member-0" / "config.json").unlink()
    log = team / "member-1" / "log.jsonl"
    log.write_text(log.read_text().replace('{"iteration": 2', '{"iterati', 1))
    train("branin", out=team, members=2, seconds=0.0, resume=True, **SMALL)
    assert [line["iteration"] for line in lines(team / "log.jsonl")] == [1, 3, 4]
    assert (team / "member-1" / "log-damaged.jsonl").exists()


def test_one_network_does_not_go_on_with_a_team(team):
    with pytest.raises(DataError, match=r"contains a run of several `members`"):
        train("branin", out=team, resume=True, **SMALL)
