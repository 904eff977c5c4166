import json
import logging
import os
from pathlib import Path
from random import Random

import pytest
import torch
from fault_cases.damage import damaged as faults
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from metabo.errors import DataError, MetaBOError
from metabo.training import Trainer, preset
from metabo.training.folder import BEFORE, NEWEST

CONFIG = preset(
    "fast",
    "branin",
    hidden=(4,),
    prior="plain",  # a learned one takes seconds, each time a run is resumed
    episodes=4,
    iterations=3,
    budget=2,
    n_global=20,
    minibatches=2,
    validation_tasks=2,
    validate_every=2,
    checkpoint_every=1,
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A whole run, with checkpoints after iterations 2 and 3."""
    folder = tmp_path_factory.mktemp("finished")
    Trainer(CONFIG, folder).run()
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of its checkpoints and log."""
    for name in (NEWEST, BEFORE, "config.json", "log.jsonl"):
        (tmp_path / name).write_bytes((finished / name).read_bytes())
    return tmp_path


def resumed(folder):
    return Trainer(CONFIG, folder, resume=True)


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def metadata_of(path):
    with safe_open(path, framework="pt") as file:
        return file.metadata()


def test_the_last_two_are_kept(finished):
    progress = [json.loads(metadata_of(finished / n)["progress"]) for n in (NEWEST, BEFORE)]
    assert [one["iteration"] for one in progress] == [3, 2]
    assert not list(finished.glob(".*"))


def damage_cut(path):
    path.write_bytes(path.read_bytes()[:100])


def damage_weight(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def damage_config(path):
    content = path.read_bytes()
    at = content.index(b"gamma")
    path.write_bytes(
        content.replace(content[at : at + 14], b"gamma" + content[at + 5 : at + 13] + b"9")
    )


def damage_link(path):
    path.unlink()
    path.symlink_to(path.parent / "nothing")


def damage_pipe(path):
    path.unlink()
    os.mkfifo(path)


def damage_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [Path.unlink, damage_cut, damage_weight, damage_config, damage_link, damage_pipe],
)
def test_a_run_goes_on_from_the_one_before_and_ends_with_the_same_bits(
    finished, folder, caplog, damage
):
    damage(folder / NEWEST)
    trainer = resumed(folder)
    assert trainer.progress.iteration == 2
    assert len(caplog.records) == 1
    assert "checkpoint.safetensors` cannot be used (" in caplog.text
    assert "Training continues from the one before, after iteration 2." in caplog.text
    trainer.run()
    assert same(load_file(folder / NEWEST), load_file(finished / NEWEST))
    assert same(load_file(folder / BEFORE), load_file(finished / BEFORE))
    lines = (folder / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == [1, 2, 3]


class KilledError(Exception):
    """The process ends here."""


@pytest.mark.parametrize("damage", [None, damage_cut, Path.unlink])
def test_killed_after_the_first_rename_a_run_resumes(finished, folder, monkeypatch, damage):
    if damage is not None:
        damage(folder / NEWEST)
    trainer, renamed, replace = resumed(folder), [], Path.replace
    trainer.progress.iteration = 99

    def killed(path, target):
        if renamed:
            raise KilledError
        renamed.append(target)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", killed)
    with (folder / "log.jsonl").open("a") as log:
        if damage is None:  # else there is one rename only, onto the damaged file
            with pytest.raises(KilledError):
                trainer._checkpoint(log)
        else:
            trainer._checkpoint(log)
    monkeypatch.undo()
    assert resumed(folder).progress.iteration == (3 if damage is None else 99)
    assert same(load_file(folder / BEFORE), load_file(finished / (BEFORE if damage else NEWEST)))
    with pytest.raises(DataError, match="already contains a training run"):
        Trainer(CONFIG, folder)


def test_where_none_can_be_used_the_advice_is_no_dead_end(folder):
    damage_cut(folder / NEWEST)
    damage_weight(folder / BEFORE)
    message = (
        r"No checkpoint in `.*` can be used \(`checkpoint.safetensors`: .*; `checkpoint-before"
    )
    with pytest.raises(DataError, match=message) as refused:
        resumed(folder)
    assert "Restore one from a backup, or train again with another `--out`" in str(refused.value)
    Trainer(CONFIG, folder / "another").run(seconds=0)


@pytest.mark.slow
def test_no_single_fault_goes_unnoticed(finished, folder, caplog):
    whole, expected = (finished / NEWEST).read_bytes(), resumed(folder)
    before = load_file(finished / BEFORE)
    state = {f"networks.{k}": v for k, v in expected.networks.state_dict().items()}
    n_fallbacks = 0
    for name, damaged in faults(whole, 150, Random(1)):
        (folder / NEWEST).write_bytes(damaged)
        trainer = resumed(folder)
        found = {f"networks.{k}": v for k, v in trainer.networks.state_dict().items()}
        if trainer.progress == expected.progress:  # blanks that fill up the header
            assert same(found, state), name
            assert same(trainer.best, expected.best), name
        else:
            n_fallbacks += 1
            assert trainer.progress.iteration == 2, name
            assert same(found, {k: v for k, v in before.items() if k in found}), name
    assert n_fallbacks > 140
    assert len(caplog.records) == n_fallbacks


def without_digest(path, **changes):
    """The file as an earlier version wrote it, with other texts in its metadata."""
    metadata = {k: v for k, v in metadata_of(path).items() if k != "digest"} | changes
    save_file(load_file(path), path, {k: v for k, v in metadata.items() if v is not None})


def test_a_checkpoint_of_an_earlier_version_loads(folder, caplog):
    (folder / BEFORE).unlink()
    for changes in ({}, {"data": None}):
        without_digest(folder / NEWEST, **changes)
        assert resumed(folder).progress.iteration == 3
    assert not caplog.records


@pytest.mark.parametrize(
    "changes",
    [
        *[
            {"progress": text}
            for text in ("", "[]", "{}", "null", '{"iteration": 1}', "[" * 99999)
        ],
        *[
            {
                "progress": {
                    "iteration": 3,
                    "seconds": 1.0,
                    "best_score": 1.0,
                    "best_iteration": 2,
                }
                | p
            }
            for p in (
                {"iteration": "3"},
                {"iteration": -1},
                {"iteration": 10**400},
                {"iteration": True},
                {"best_iteration": 9},
                {"seconds": "1"},
                {"seconds": float("nan")},
                {"seconds": 10**400},
                {"best_score": [1]},
                {"best_score": float("inf")},
                {"more": 1},
            )
        ],
        *[{"config": text} for text in ("", "[]", "null", "{", '"x"')],
        *[{"data": text} for text in ("[]", "{", '{"sources": 1}', '{"sources": {}}')],
        {"more": "x"},
        {"config": None},
    ],
)
def test_every_mistake_in_one_without_digest_is_one_sentence(folder, changes):
    texts = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in changes.items()}
    without_digest(folder / NEWEST, **texts)
    assert resumed(folder).progress.iteration == 2  # the one before
    (folder / BEFORE).unlink()
    with pytest.raises(DataError, match=r"No checkpoint in .* can be used") as refused:
        resumed(folder)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["networks.af.network.0.weight", "adam.0.exp_avg", "best.scale"])
@pytest.mark.parametrize("change", ["missing", "shape", "type", "extra"])
def test_tensors_that_do_not_fit_are_named(folder, name, change):
    tensors = load_file(folder / NEWEST)
    metadata = {k: v for k, v in metadata_of(folder / NEWEST).items() if k != "digest"}
    value = tensors.pop(name)
    if change != "missing":
        tensors[name] = {"shape": value[:1], "type": value.to(torch.float16)}.get(change, value)
    if change == "extra":
        tensors[f"{name}.more"] = value.clone()
    if change == "shape" and value.shape[0] == 1:
        tensors[name] = torch.zeros(7)
    save_file(tensors, folder / NEWEST, metadata)
    (folder / BEFORE).unlink()
    with pytest.raises(
        MetaBOError, match=f"its tensor `{name}.* (should have shape|is of another)"
    ):
        resumed(folder)


def test_a_configuration_of_something_else_is_not_overwritten(tmp_path):
    for text in ('{"debug": true}', "x = 1", "[]"):
        (tmp_path / "config.json").write_text(text)
        for resume in (False, True):
            with pytest.raises(DataError, match="is not the configuration of a training run"):
                Trainer(CONFIG, tmp_path, resume=resume)
        assert (tmp_path / "config.json").read_text() == text


def test_a_run_with_a_damaged_configuration_goes_on(folder):
    (folder / "config.json").write_text("{")
    resumed(folder).run()
    assert json.loads((folder / "config.json").read_text()) == CONFIG.record()


def test_warnings_are_of_this_package(folder, caplog):
    damage_cut(folder / NEWEST)
    with caplog.at_level(logging.WARNING):
        resumed(folder)
    assert [record.name for record in caplog.records] == ["metabo.training.checkpoint"]
