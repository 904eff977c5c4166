import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metabo.errors import OutputError
from metabo.store import require_writable, save_bytes, save_json, sync_folder, write_all


def test_files_are_replaced_whole(tmp_path):
    for value in (1, 2):
        write_all(tmp_path, {"a.json": save_json({"v": value}), "b.json": save_json({"v": value})})
    assert json.loads((tmp_path / "a.json").read_text()) == {"v": 2}
    assert {p.name for p in tmp_path.iterdir()} == {"a.json", "b.json"}


def test_if_one_cannot_be_written_none_is(tmp_path):
    write_all(tmp_path, {"a.json": save_json({"v": 1})})

    def half(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        write_all(tmp_path, {"a.json": save_json({"v": 2}), "b.png": half})
    assert json.loads((tmp_path / "a.json").read_text()) == {"v": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_json_is_strict():
    with pytest.raises(ValueError, match="not JSON compliant"):
        save_json({"v": float("nan")})


def test_a_folder_that_cannot_be_is_named_before_computing(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "results.json").mkdir()
    for folder in (tmp_path / "file" / "x", tmp_path / "file", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(OutputError, match=r"output folder .* cannot be written"):
            require_writable(folder, ["results.json"])
    with pytest.raises(OutputError, match="cannot be written"):
        write_all(tmp_path / "file" / "x", {"a.json": save_json({})})


def test_a_new_folder_is_made_with_its_first_file(tmp_path):
    folder = tmp_path / "a" / "b"
    require_writable(folder, ["results.json"])
    assert not folder.exists()
    write_all(folder, {"results.json": save_json({})})
    assert [p.name for p in folder.iterdir()] == ["results.json"]


@pytest.fixture
def calls(monkeypatch):
    """Which files and folders are synced and renamed, in order."""
    seen, fsync, replace = [], os.fsync, Path.replace

    def watched_fsync(file):
        seen.append(("sync", Path(f"/proc/self/fd/{file}").readlink().name.split(".", 2)[-1]))
        fsync(file)

    def watched_replace(path, target):
        seen.append(("rename", Path(target).name))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(Path, "replace", watched_replace)
    return seen


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_files_are_on_the_disk_before_they_get_their_names_and_then_the_names(tmp_path, calls):
    folder = tmp_path / "new" / "run"
    write_all(folder, {"a.json": save_json({}), "b.json": save_json({})})
    assert calls == [
        *[("sync", name) for name in ("a.json", "b.json")],
        *[("rename", name) for name in ("a.json", "b.json")],
        *[("sync", name) for name in ("run", "new", tmp_path.name)],
    ]


def test_a_folder_that_cannot_be_opened_is_not_synced(tmp_path):
    sync_folder(tmp_path)
    sync_folder(tmp_path / "missing")


def test_threads_that_write_the_same_file_do_not_meet(tmp_path):
    contents = [bytes([number]) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda c: write_all(tmp_path, {"a.bin": save_bytes(c)}), contents * 4))
    assert (tmp_path / "a.bin").read_bytes() in contents
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_a_file_can_be_kept_under_another_name(tmp_path):
    for value in range(3):
        files = {"a.json": save_json({"v": value})}
        write_all(tmp_path, files, keeping={"a.json": "before.json"})
    assert json.loads((tmp_path / "a.json").read_text()) == {"v": 2}
    assert json.loads((tmp_path / "before.json").read_text()) == {"v": 1}
    assert len(list(tmp_path.iterdir())) == 2
