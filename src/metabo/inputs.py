"""Reading of files that a user names: only regular files, with clear errors.

A FIFO would block the reader, a device may never end, and a link may be broken or circular. The
type of a path is checked before it is opened, and again once it is open.
"""

import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Literal

from metabo.errors import DataError, shown
from metabo.rules import is_number

Kind = Literal["missing", "file", "folder", "special", "dangling"]
"""Type of a path, links followed: `dangling` is a link whose target does not exist."""

MOST_BYTES = 2**31
"""Largest file that is read into memory, in bytes: a sparse file can claim any size."""
FLAGS = (
    getattr(os, "O_NONBLOCK", 0)  # a FIFO that replaced the file must not block
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)  # Windows would translate line endings
    | getattr(os, "O_CLOEXEC", 0)
)
"""Flags with which files that a user names are opened."""
_DIGITS = 4000
"""Largest number of digits of a whole number that is read; Python's own limit is 4,300."""


def user_path(path: str | Path, what: str) -> Path:
    """Return a path with `~` and `~user` expanded.

    Raises:
        DataError: If there is no such user, or no home folder.
    """
    try:
        return Path(path).expanduser()
    except (RuntimeError, ValueError):  # no such user, or a name that no user can have
        raise unreadable(path, what, "there is no such home folder") from None


def kind_of(path: Path, what: str) -> Kind:
    """Return the type of a path, links followed.

    Args:
        path: Path as the user gave it.
        what: What the file is for, to be named in messages, such as "table".

    Raises:
        DataError: If the type cannot be determined: a loop of links, a name that is too long, or
            no permission.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "dangling" if os.path.islink(path) else "missing"  # noqa: PTH114 (never raises)
    except (OSError, ValueError) as error:
        raise unreadable(path, what, error) from None
    return _kind(mode)


def require_file(path: Path, what: str) -> None:
    """Raise `DataError` unless the path leads to a regular file."""
    _require_file(kind_of(path, what), path, what)


def entries(folder: Path, what: str) -> list[Path]:
    """Return the entries of a folder, sorted by name.

    Raises:
        DataError: If the path is not a folder, or cannot be listed.
    """
    kind = kind_of(folder, what)
    if kind != "folder":
        problem = {
            "missing": "no such folder",
            "dangling": "it is a link to something that does not exist",
            "file": "it is not a folder",
            "special": "it is not a folder",
        }[kind]
        raise unreadable(folder, what, problem)
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise unreadable(folder, what, error) from None


def open_file(path: Path, what: str) -> BinaryIO:
    """Open a regular file for reading; the caller closes it.

    Raises:
        DataError: If it is not a regular file, or cannot be opened.
    """
    require_file(path, what)
    try:
        # Non-blocking, in case a FIFO has replaced the file since the check.
        file = os.fdopen(os.open(path, os.O_RDONLY | FLAGS), "rb")
    except (OSError, ValueError) as error:
        raise unreadable(path, what, error) from None
    try:
        _require_file(_kind(os.fstat(file.fileno()).st_mode), path, what)
    except BaseException:
        file.close()
        raise
    return file


def read_bytes(path: Path, what: str, *, most: int | None = None) -> bytes:
    """Return the content of a regular file, or its first `most` bytes.

    Raises:
        DataError: If it cannot be read, or has more than `MOST_BYTES` bytes.
    """
    try:
        with open_file(path, what) as file:
            size = os.fstat(file.fileno()).st_size
            if most is None and size > MOST_BYTES:
                raise unreadable(
                    path, what, f"it has {size} bytes, more than the limit of {MOST_BYTES}"
                )
            return file.read() if most is None else file.read(most)
    except OSError as error:
        raise unreadable(path, what, error) from None


def read_text(path: Path, what: str) -> str:
    """Return the content of a regular UTF-8 file, without a byte-order mark.

    Raises:
        DataError: If it cannot be read or is not UTF-8.
    """
    try:
        return read_bytes(path, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"The {what} `{shown(path)}` must be text in UTF-8, but it is not: {error}. Save it "
            "as UTF-8."
        ) from None


def read_json(path: Path, what: str) -> object:
    """Return the content of a regular JSON file, in which keys are unique and numbers finite.

    Raises:
        DataError: If the file cannot be read or breaks one of these rules.
    """
    subject = f"The {what} `{shown(path)}`"
    text = read_text(path, what)
    try:
        return json.loads(
            text,
            object_pairs_hook=_once,
            parse_int=_whole,
            parse_float=_finite,
            parse_constant=_no_number,
        )
    except _Refused as error:
        raise DataError(f"{subject} {error}") from None
    except RecursionError:
        raise _too_deep(subject) from None
    except ValueError as error:
        raise DataError(f"{subject} must be JSON, but it is not: {error}.") from None


def parse_json(text: str | bytes, what: str) -> object:
    """Parse a JSON text; NaN and Infinity are accepted as numbers, as Python does.

    Args:
        text: Untrusted text.
        what: Subject of the error message, such as "The card of `af.safetensors`".

    Raises:
        DataError: If the text is not JSON.
    """
    try:
        return json.loads(text, parse_int=_whole)
    except _Refused as error:
        raise DataError(f"{what} {error}") from None
    except RecursionError:
        raise _too_deep(what) from None
    except ValueError as error:  # not JSON, or not UTF-8
        raise DataError(f"{what} must be JSON, but it is not: {error}.") from None


def unreadable(path: str | Path, what: str, problem: object) -> DataError:
    """Return the error for a file that cannot be read."""
    reason = problem.strerror or problem if isinstance(problem, OSError) else problem
    words = shown(str(reason), 400)
    return DataError(f"The {what} `{shown(path)}` cannot be read: {words}. Check the path.")


class _Refused(ValueError):
    """A rule that a JSON text breaks, as the rest of a sentence about it."""


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "special"


def _require_file(kind: Kind, path: Path, what: str) -> None:
    problem = {
        "missing": "No such file",
        "dangling": "it is a link to a file that does not exist",
        "folder": "it is a folder",
        "special": "it is not a plain file but a device, pipe or socket",
    }.get(kind)
    if problem is not None:
        raise unreadable(path, what, problem)


def _too_deep(what: str) -> DataError:
    return DataError(f"{what} must be JSON, but it is nested too deeply. Write it flatter.")


def _once(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _Refused(f"has the key `{shown(key)}` twice in one object. Give it once.")
        found[key] = value
    return found


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise _too_large(text)
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not is_number(number):
        raise _too_large(text)
    return number


def _no_number(text: str) -> float:
    raise _Refused(f"must have finite numbers, but has {text}. Write a number, or leave it out.")


def _too_large(text: str) -> _Refused:
    return _Refused(
        f"must have numbers that a float can hold, but has {shown(text)}. Use other units."
    )
