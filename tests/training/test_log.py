import json
from dataclasses import asdict

import pytest

from metabo.errors import DataError
from metabo.training import Event
from metabo.training.log import DAMAGED, forget_after, read_log


def line(number, **changes):
    event = Event(number, 9, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 7.0, 8.0)
    return json.dumps(asdict(event) | changes) + "\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.jsonl"


def iterations(path):
    return [record["iteration"] for record in read_log(path)]


def test_iterations_that_will_be_done_again_are_dropped(path, caplog):
    path.write_text(line(1) + line(2) + line(3) + '{"iterat')
    forget_after(path, 2, is_resumed=True)
    assert path.read_text() == line(1) + line(2)
    assert not caplog.records
    assert not (path.parent / DAMAGED).exists()


@pytest.mark.parametrize(
    "damage",
    [
        "\0" * 300 + "\n",
        '{"iteration": "2"}\n',
        '{"iteration": true, "reward": 1, "score": 1}\n',
        line(2, reward=None),
        line(2, score="high"),
        line(2, more=1),
        line(2)[:50] + "\n",
        "[" * 99_999 + "\n",
        "[]\n",
        "\u2028\x85hello\n",
    ],
)
def test_a_damaged_log_of_a_run_that_goes_on_keeps_what_can_be_read(path, caplog, damage):
    whole = line(1) + damage + line(3)
    path.write_text(whole)
    forget_after(path, 3, is_resumed=True)
    assert path.read_text() == line(1) + line(3)
    assert (path.parent / DAMAGED).read_text() == whole
    assert "Line 2 of" in caplog.text
    assert "Training continues without it" in caplog.text


def test_bytes_that_are_no_text_are_damage(path):
    path.write_bytes(line(1).encode() + b"\xff\xfe\n" + line(2).encode())
    forget_after(path, 5, is_resumed=True)
    assert iterations(path) == [1, 2]


def test_where_no_run_goes_on_a_strange_file_is_left_alone(path):
    for text in ("hello\n", '{"iteration": "1"}\n', "[]\n"):
        path.write_text(text)
        with pytest.raises(
            DataError, match=r"Line 1 of .*log.jsonl` is not a line of a training log"
        ):
            forget_after(path, 0)
        assert path.read_text() == text


def test_a_log_that_is_a_folder_is_named(path):
    path.mkdir()
    with pytest.raises(DataError, match=r"The log .*log.jsonl` cannot be read: it is a folder"):
        forget_after(path, 1, is_resumed=True)


def test_a_strict_reader_names_the_line_it_cannot_read(path):
    path.write_text(line(1) + "{}\n" + line(3))
    assert iterations(path) == [1, 3]
    with pytest.raises(
        DataError, match=r"Line 2 of .*log.jsonl` is not a line of a training log. Remove"
    ):
        read_log(path, is_strict=True)
