import os
import socket
import stat

import pytest

from metabo import inputs
from metabo.errors import DataError
from metabo.inputs import entries, kind_of, parse_json, read_bytes, read_json, read_text, user_path


def fifo(folder):
    os.mkfifo(folder / "fifo")
    return folder / "fifo"


def bound_socket(folder):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(folder / "socket"))
    return folder / "socket"


def dangling(folder):
    (folder / "link").symlink_to(folder / "nothing")
    return folder / "link"


def loop(folder):
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    return folder / "a"


def below_a_file(folder):
    (folder / "file").write_text("{}")
    return folder / "file" / "below"


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (fifo, "it is not a plain file but a device, pipe or socket"),
        (bound_socket, "it is not a plain file but a device, pipe or socket"),
        (lambda folder: folder / "/dev/zero", "it is not a plain file but a device"),
        (lambda folder: folder, "it is a folder"),
        (dangling, "it is a link to a file that does not exist"),
        (loop, "Too many levels of symbolic links"),
        (lambda folder: folder / "missing", "No such file"),
        (below_a_file, "No such file"),
        (lambda folder: folder / ("n" * 5000), "File name too long"),
        (lambda folder: folder / "a\0b", "embedded null byte"),
        (lambda folder: folder / "\udcff\ud800", "(No such file|can't encode)"),
        (lambda folder: folder / "a\nb", "No such file"),
    ],
)
@pytest.mark.parametrize("read", [read_bytes, read_text, read_json])
def test_what_is_no_plain_file_is_refused_in_one_short_line(make, problem, read, tmp_path):
    with pytest.raises(DataError, match=rf"The space `.*` cannot be read: .*{problem}") as caught:
        read(make(tmp_path), "space")
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 400


def test_a_fifo_that_takes_a_files_place_is_not_waited_for(tmp_path, monkeypatch):
    path = fifo(tmp_path)
    monkeypatch.setattr(inputs, "kind_of", lambda *_: "file")
    with pytest.raises(DataError, match="device, pipe or socket"):
        read_bytes(path, "space")


def test_a_file_without_permission_is_named(tmp_path):
    path = tmp_path / "secret"
    path.write_text("{}")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(DataError, match=r"`.*secret` cannot be read: Permission denied"):
        read_text(path, "space")


def test_a_file_that_claims_any_size_is_not_read(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(DataError, match="it has 1099511627776 bytes"):
        read_bytes(path, "space")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ("1" * 5000, r"must have numbers that a float can hold, but has 1{100}\.\.\.1{100}\."),
        ("{", "must be JSON, but it is not: Expecting"),
        ("", "must be JSON, but it is not: Expecting"),
    ],
)
def test_json_that_cannot_be_read_is_refused(text, problem, tmp_path):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=rf"The space `.*a.json` .*{problem}"):
        read_json(tmp_path / "a.json", "space")
    with pytest.raises(DataError, match=rf"The card .*{problem}"):
        parse_json(text, "The card")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1e999}', "must have numbers that a float can hold, but has 1e999"),
        ('{"a": -Infinity}', "must have finite numbers, but has -Infinity"),
        ('{"a": NaN}', "must have finite numbers, but has NaN"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "has the key `c` twice in one object"),
    ],
)
def test_a_users_json_has_finite_numbers_and_each_key_once(text, problem, tmp_path):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=rf"The space `.*a.json` {problem}"):
        read_json(tmp_path / "a.json", "space")


def test_text_is_utf_8_with_or_without_a_mark(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"\xc3\xa9": 1}')
    assert read_json(path, "space") == {"é": 1}
    path.write_bytes(b"\xe9")
    with pytest.raises(DataError, match=r"a.json` must be text in UTF-8.*Save it as UTF-8"):
        read_text(path, "space")


def test_plain_files_and_links_to_them_are_read(tmp_path):
    (tmp_path / "a").write_bytes(b"content")
    (tmp_path / "link").symlink_to("a")
    assert read_bytes(tmp_path / "link", "space") == b"content"
    assert kind_of(tmp_path / "link", "space") == "file"
    assert stat.S_ISREG((tmp_path / "a").stat().st_mode)


def test_a_folder_is_listed_in_order_whatever_is_in_it(tmp_path):
    names = [dangling(tmp_path).name, loop(tmp_path).name, fifo(tmp_path).name, "b"]
    assert [path.name for path in entries(tmp_path, "table")] == sorted(names)
    with pytest.raises(DataError, match=r"The table `.*fifo` cannot be read: it is not a folder"):
        entries(tmp_path / "fifo", "table")
    with pytest.raises(DataError, match="it is a link to something that does not exist"):
        entries(tmp_path / "link", "table")


def test_the_home_of_nobody_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="The table `~no-such-user/x` cannot be read: there is no"):
        user_path("~no-such-user/x", "table")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_path("~/x", "table") == tmp_path / "x"
