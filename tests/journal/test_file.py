import errno
import json
import logging
import os
import stat
import threading
from pathlib import Path

import pytest
from fault_cases.workers import ended, forked

from metabo.errors import BusyError, DataError, OutputError
from metabo.journal import Damage, Entry, Journal, file, lock


@pytest.fixture
def path(tmp_path):
    """A journal with two records."""
    journal = Journal.begin(tmp_path / "run.jsonl", {"seed": 3})
    journal.append({"value": 0.1})
    journal.append({"value": 1e-300})
    return tmp_path / "run.jsonl"


def test_what_is_appended_is_read(path):
    journal = Journal(path)
    assert journal.header == {"seed": 3}
    assert journal.entries == (Entry(1, {"value": 0.1}), Entry(2, {"value": 1e-300}))
    assert journal.append({"value": 2}) == (Entry(3, {"value": 2}),)
    assert Journal(path).entries == journal.entries
    assert len(journal.entries) == 3


def test_a_record_is_on_the_disk_before_append_returns_and_counted_after(path, monkeypatch):
    journal, synced = Journal(path), []
    monkeypatch.setattr(os, "fsync", lambda f: synced.append(path.read_text()))
    journal.append({"value": 3})
    (text,) = synced
    assert text.count("\n") == 4
    assert json.loads(text.splitlines()[0])["lines"].startswith("0000000002 ")
    assert json.loads(path.read_text().splitlines()[0])["lines"].startswith("0000000003 ")


def test_others_records_come_with_ones_own(path):
    one, other = Journal(path), Journal(path)
    other.append({"value": 5})
    assert one.append({"value": 6}) == (Entry(3, {"value": 5}), Entry(4, {"value": 6}))
    assert other.refresh() == (Entry(4, {"value": 6}),)
    assert other.refresh() == ()
    assert one.entries == other.entries


def test_every_torn_last_line_is_left_out_and_overwritten(path, caplog):
    journal = Journal(path)
    whole = path.read_bytes()
    line = file.record_line(journal._content, {"value": 7})
    for length in range(1, len(line)):
        path.write_bytes(whole + line[:length])
        assert Journal(path).entries == journal.entries
        assert path.read_bytes() == whole + line[:length]  # looking changes nothing
        caplog.clear()
        Journal(path).append({"value": 8})
        assert "is incomplete and was never acknowledged" in caplog.text
        assert Journal(path).entries == (*journal.entries, Entry(3, {"value": 8}))


def test_zeros_after_the_last_line_are_what_a_power_failure_left(path):
    known = Journal(path).entries
    path.write_bytes(path.read_bytes() + bytes(100))
    Journal(path).append({"value": 8})
    assert Journal(path).entries == (*known, Entry(3, {"value": 8}))
    assert b"\0" not in path.read_bytes()


def test_a_line_that_cannot_be_written_leaves_no_trace(path, monkeypatch):
    journal = Journal(path)
    before = path.read_bytes()
    write = os.write

    def full(descriptor, data):
        write(descriptor, data[:7])
        raise OSError(errno.ENOSPC, "No space left on device")

    def interrupt(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OutputError, match=r"cannot be written: No space left on device"):
            journal.append({"value": 9})
    assert path.read_bytes() == before
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            journal.append({"value": 9})
    assert path.read_bytes() == before
    journal.append({"value": 10})
    assert Journal(path).entries[-1] == Entry(3, {"value": 10})


def test_long_lines_are_written_in_parts(path, monkeypatch):
    journal, write = Journal(path), os.write
    monkeypatch.setattr(os, "write", lambda f, data: write(f, data[:3]))
    journal.append({"value": "long"})
    assert Journal(path).entries[-1] == Entry(3, {"value": "long"})


def test_numbers_that_json_does_not_know_are_refused_before_anything_is_written(path):
    journal, before = Journal(path), path.read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        journal.append({"value": float("nan")})
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b'{"loss": 1}', b'{"loss": 1}\n', b"\n", b"\x00" * 10, b"3"])
@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_that_is_not_a_journal_is_never_written_to(tmp_path, content, is_link):
    real = tmp_path / "precious.json"
    real.write_bytes(content)
    path = real
    if is_link:
        path = tmp_path / "run.jsonl"
        path.symlink_to(real)
    for open_ in (Journal, lambda path: Journal.begin(path, {"seed": 3})):
        with pytest.raises(
            DataError, match=r"is not a journal of metabo, so it is left unchanged"
        ):
            open_(path)
    assert real.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_special_files_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    cases = {
        tmp_path / "fifo": "not a plain file",
        tmp_path / "dangling": "link to a file that does not exist",
        tmp_path / "loop": "Too many levels of symbolic links",
        tmp_path: "it is a folder",
        tmp_path / ("x" * 5000): "File name too long",
        tmp_path / "a\0b": "embedded null byte",
    }
    for path, problem in cases.items():
        for open_ in (Journal, lambda path: Journal.begin(path, {"seed": 3})):
            with pytest.raises(DataError, match=problem):
                open_(path)
    assert not (tmp_path / "nowhere").exists()


def test_a_journal_behind_a_link_is_the_journal(path, tmp_path):
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    Journal.begin(link, {"seed": 4}).append({"value": 4})
    assert link.is_symlink()
    assert len(Journal(path).entries) == 3


def test_an_empty_file_is_a_new_journal_that_one_of_many_begins(tmp_path):
    path = tmp_path / "run.jsonl"
    path.touch()
    barrier, journals = threading.Barrier(8), []

    def begin(number):
        barrier.wait()
        journal = Journal.begin(path, {"seed": number})
        journal.append({"by": number})
        journals.append(journal)

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(entry.record["by"] for entry in Journal(path).entries) == list(range(8))
    assert len({json.dumps(journal.header) for journal in journals}) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_new_journal_has_the_permissions_of_any_new_file(tmp_path):
    Journal.begin(tmp_path / "run.jsonl", {})
    (tmp_path / "other").touch()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("run.jsonl", "other")]
    assert modes[0] == modes[1]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OutputError, match=r"nowhere/run.jsonl` cannot be written: No such file"):
        Journal.begin(tmp_path / "nowhere" / "run.jsonl", {})
    with pytest.raises(DataError, match=r"cannot be read: No such file"):
        Journal(tmp_path / "run.jsonl")


def test_one_that_was_replaced_or_removed_meanwhile_is_not_written_to(path, tmp_path):
    journal = Journal(path)
    other = Journal.begin(tmp_path / "other.jsonl", {"seed": 3})
    for number in range(5):
        other.append({"value": number})
    content = (tmp_path / "other.jsonl").read_bytes()
    (tmp_path / "other.jsonl").replace(path)
    with pytest.raises(Damage, match="is not the one that was opened"):
        journal.append({"value": 1})
    assert path.read_bytes() == content
    path.unlink()
    with pytest.raises(DataError, match="No such file"):
        journal.append({"value": 1})
    assert not path.exists()


def test_one_that_was_restored_from_a_copy_meanwhile_is_not_written_to(path):
    journal = Journal(path)
    copy = path.read_bytes()
    journal.append({"value": 5})
    path.write_bytes(copy)
    Journal(path).append({"value": 6})  # a line of the same length
    before = path.read_bytes()
    with pytest.raises(Damage, match="is not the one that was opened"):
        journal.append({"value": 7})
    assert path.read_bytes() == before


def test_a_relative_path_stays_where_it_was(path, monkeypatch, tmp_path):
    monkeypatch.chdir(path.parent)
    journal = Journal(Path("run.jsonl"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    journal.append({"value": 5})
    assert len(Journal(path).entries) == 3


def test_a_turn_is_waited_for_and_then_told_who_has_it(path, monkeypatch):
    one, other = Journal(path), Journal(path)
    monkeypatch.setattr(file, "PATIENCE", 0.05)
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    with one.turn() as turn:
        turn.append({"value": 5})
        with pytest.raises(BusyError, match=rf"0.05 s by this process \({os.getpid()}\). Nothing"):
            other.append({"value": 6})
    other.append({"value": 7})
    assert [entry.record["value"] for entry in Journal(path).entries] == [0.1, 1e-300, 5, 7]


def test_a_place_without_locks_is_told_at_once(path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock.fcntl, "flock", no_locks)
    with pytest.raises(OutputError, match=r"cannot be locked: No locks .* on a local disk"):
        Journal(path).append({"value": 5})


def test_threads_take_turns_and_lose_nothing(path):
    journal = Journal(path)

    def tell(first):
        for number in range(first, first + 25):
            journal.append({"value": number})

    threads = [threading.Thread(target=tell, args=(25 * i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    told = [entry.record["value"] for entry in Journal(path).entries[2:]]
    assert sorted(told) == list(range(200))


def test_a_fork_while_a_thread_has_the_turn_neither_hangs_nor_keeps_it(path):
    journal, started, over = Journal(path), threading.Event(), threading.Event()

    def hold():
        with journal.turn() as turn:
            started.set()
            over.wait()
            turn.append({"value": "thread"})

    thread = threading.Thread(target=hold)
    thread.start()
    started.wait()
    child = forked(lambda: journal.append({"value": "child"}))  # waits until the thread is done
    over.set()
    thread.join()
    assert ended([child]) == 0
    told = [entry.record["value"] for entry in Journal(path).entries[2:]]
    assert sorted(told) == ["child", "thread"]


def test_format_1_still_works_and_is_told(tmp_path, caplog):
    path = tmp_path / "run.jsonl"
    path.write_text('{"metabo_journal": 1, "seed": 3}\n{"value": 1}\n{"val')
    with caplog.at_level(logging.WARNING):
        journal = Journal(path)
    assert "is of format 1, whose lines have no checksums" in caplog.text
    assert (journal.header, journal.entries) == ({"seed": 3}, (Entry(1, {"value": 1}),))
    journal.append({"value": 2})
    assert path.read_text().splitlines()[1:] == ['{"value": 1}', '{"value": 2}']
