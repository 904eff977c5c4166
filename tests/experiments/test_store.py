import json

import pytest

from metabo.errors import OutputError
from metabo.experiments.store import require_writable, write, write_json


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "results.json"
    write_json(path, {"a": 1})
    write_json(path, {"a": 2})
    assert json.loads(path.read_text()) == {"a": 2}
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "results.json"
    write_json(path, {"a": 1})

    def half(temporary):
        temporary.write_text('{"a":')
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        write(path, half)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_is_named_before_computing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"output folder .*file/x` cannot be written: Not a dir"):
        require_writable(tmp_path / "file" / "x")


def test_a_new_folder_is_made_with_its_first_file(tmp_path):
    folder = tmp_path / "a" / "b"
    require_writable(folder)
    assert not folder.exists()
    write_json(folder / "results.json", {})
    assert [p.name for p in folder.iterdir()] == ["results.json"]
