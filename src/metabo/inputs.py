"""Files that a user names: only plain ones are opened, and every failure is one sentence.

A FIFO would keep the reader waiting, a device may never end, and a link may lead nowhere or in a
circle. What a path is gets looked up before it is opened.
"""

import json
import os
import stat
from pathlib import Path
from typing import Literal

from metabo.errors import DataError

Kind = Literal["missing", "file", "folder", "special", "dangling"]
"""What a path leads to: `dangling` is a link whose target does not exist."""

_SHOWN = 200
"""Characters of a path that a message repeats."""


def shown(path: str | Path) -> str:
    """A path as a message can show it, on one line of bounded length."""
    text = str(path).encode("utf-8", "backslashreplace").decode()
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}...{text[-_SHOWN // 2 :]}"


def kind_of(path: Path, what: str) -> Kind:
    """What a path leads to, links followed.

    Args:
        path: As the user gave it.
        what: What it should be, for messages, such as "table".

    Raises:
        DataError: If nobody could say: a loop of links, a name too long, no permission.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "dangling" if os.path.islink(path) else "missing"  # noqa: PTH114 (never raises)
    except (OSError, ValueError) as error:
        raise unreadable(path, what, error) from None
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "special"


def require_file(path: Path, what: str) -> None:
    """Raise unless the path leads to a plain file."""
    problem = {
        "missing": "no such file",
        "dangling": "it is a link to a file that does not exist",
        "folder": "it is a folder",
        "special": "it is not a plain file but a device, pipe or socket",
    }.get(kind_of(path, what))
    if problem is not None:
        raise unreadable(path, what, problem)


def read_bytes(path: Path, what: str) -> bytes:
    """The content of a plain file."""
    require_file(path, what)
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(path, what, error) from None


def read_text(path: Path, what: str) -> str:
    """The content of a plain file as UTF-8, without a byte-order mark."""
    try:
        return read_bytes(path, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"The {what} `{shown(path)}` must be text in UTF-8, but it is not: {error}."
        ) from None


def read_json(path: Path, what: str) -> object:
    """The content of a plain file of JSON."""
    return parse_json(read_text(path, what), f"The {what} `{shown(path)}`")


def parse_json(text: str | bytes, what: str) -> object:
    """The value that a JSON text stands for.

    Args:
        text: From outside.
        what: The subject of the message, such as "The card of `af.safetensors`".
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise DataError(f"{what} must be JSON, but it is nested too deeply.") from None
    except ValueError as error:  # not JSON, not UTF-8, or a number of thousands of digits
        raise DataError(f"{what} must be JSON, but it is not: {error}.") from None


def unreadable(path: Path, what: str, problem: object) -> DataError:
    """The error for a file that cannot be read."""
    reason = problem.strerror or problem if isinstance(problem, OSError) else problem
    return DataError(f"The {what} `{shown(path)}` cannot be read: {reason}. Check the path.")
