import errno
import json
import os

import pytest

from metabo import journal
from metabo.errors import BusyError, DataError, OutputError
from metabo.journal import Journal, read


@pytest.fixture
def path(tmp_path):
    """A journal with two records."""
    file = Journal(tmp_path / "run.jsonl")
    file.begin({"seed": 3})
    file.append({"value": 0.1})
    file.append({"value": 1e-300})
    file.close()
    return tmp_path / "run.jsonl"


def test_what_is_appended_is_read(path):
    content = read(path)
    assert content.header == {"seed": 3}
    assert content.records == [{"value": 0.1}, {"value": 1e-300}]
    assert content.length == path.stat().st_size
    again = Journal(path)
    assert (again.header, again.records) == (content.header, content.records)
    again.append({"value": 2})
    assert read(path).records[-1] == {"value": 2}


def test_a_line_is_flushed_and_synced_before_append_returns(path, monkeypatch):
    file = Journal(path)
    synced = []
    monkeypatch.setattr(os, "fsync", lambda f: synced.append((f, path.read_text().count("\n"))))
    file.append({"value": 3})
    assert synced == [(file._file, 4)]


def test_every_torn_last_line_is_cut_off(path, caplog):
    whole = path.read_bytes()
    before = whole[: whole[:-1].rfind(b"\n") + 1]
    for length in range(len(before) + 1, len(whole)):
        path.write_bytes(whole[:length])
        assert read(path).records == [{"value": 0.1}]
        assert path.read_bytes() == whole[:length]  # looking changes nothing
        caplog.clear()
        file = Journal(path)
        assert "was never finished and is left out" in caplog.text
        assert file.records == [{"value": 0.1}]
        assert path.read_bytes() == before
        file.append({"value": 1e-300})
        assert path.read_bytes() == whole
        file.close()


def test_a_torn_header_is_a_new_journal(path):
    path.write_bytes(path.read_bytes()[:5])
    assert Journal(path).header is None
    assert path.read_bytes() == b""


@pytest.mark.parametrize("wrong", ["{", "3", "nonsense", "\\x00"])
def test_a_corrupt_line_is_named(path, wrong):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], wrong, lines[2]]) + "\n")
    before = path.read_bytes()
    for reader in (read, Journal):
        with pytest.raises(DataError, match=r"Line 2 of the journal .*run.jsonl` cannot be read"):
            reader(path)
    assert path.read_bytes() == before


def test_other_files_and_newer_formats_are_refused(path):
    path.write_text('{"loss": 1}\n')
    with pytest.raises(DataError, match=r"run.jsonl` is not a journal of metabo"):
        Journal(path)
    path.write_text(json.dumps({"metabo_journal": journal.FORMAT + 1}) + "\n")
    with pytest.raises(DataError, match=r"format 2, but .* reads 1. Install a newer metabo"):
        Journal(path)


def test_one_at_a_time(path):
    first = Journal(path)
    with pytest.raises(BusyError, match=r"run.jsonl` is in use by another process"):
        Journal(path)
    assert read(path).header == {"seed": 3}
    first.close()
    second = Journal(path)
    del second  # forgetting it closes it too
    Journal(path).close()


def test_a_line_that_cannot_be_written_leaves_no_trace(path, monkeypatch):
    file = Journal(path)
    before = path.read_bytes()
    write = os.write

    def full(descriptor, data):
        write(descriptor, data[:7])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OutputError, match=r"cannot be written: No space left on device"):
            file.append({"value": 9})
    assert path.read_bytes() == before
    with monkeypatch.context() as patch:

        def interrupt(_):
            raise KeyboardInterrupt

        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            file.append({"value": 9})
    assert path.read_bytes() == before
    file.append({"value": 10})
    assert read(path).records[-1] == {"value": 10}


def test_long_lines_are_written_in_parts(path, monkeypatch):
    file = Journal(path)
    write = os.write
    monkeypatch.setattr(os, "write", lambda f, data: write(f, data[:3]))
    file.append({"value": "long"})
    assert read(path).records[-1] == {"value": "long"}


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OutputError, match=r"nowhere/run.jsonl` cannot be written: No such file"):
        Journal(tmp_path / "nowhere" / "run.jsonl")
    with pytest.raises(DataError, match=r"cannot be read: No such file"):
        read(tmp_path / "run.jsonl")


def test_numbers_that_json_does_not_know_are_refused_before_anything_is_written(path):
    file = Journal(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        file.append({"value": float("nan")})
    assert path.read_bytes() == before
