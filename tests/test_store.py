import json

import pytest

from metabo.errors import OutputError
from metabo.store import require_writable, save_json, write_all


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
