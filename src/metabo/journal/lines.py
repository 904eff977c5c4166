"""The lines of a journal: how they are written, and how damage is detected.

The first line is the header, and every line after it is a record:

    {"metabo_journal": 2, "lines": "0000000012 5f3a09c1", "id": "...", ..., "sum": "..."}
    {"n": 1, "prev": "...", ..., "sum": "..."}

| field   | meaning                                                                          |
| ------- | -------------------------------------------------------------------------------- |
| `n`     | number of the record, 1 for the second line of the file                          |
| `prev`  | checksum of the line before: a dropped, swapped or repeated line breaks the chain |
| `sum`   | checksum of this line up to here, keyed by `id`: a line of another journal fails |
| `lines` | number of records acknowledged so far, with its own checksum                     |

`lines` has a fixed width and is overwritten after each record, so that a truncated file is
noticed. If it is damaged, it is ignored, and the next record restores it.

Format 1 had neither numbers nor checksums. Its lines are only checked to be JSON objects.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from shlex import quote

from metabo.errors import DataError, shown
from metabo.rules import is_whole
from metabo.store import JOURNAL

FORMAT = 2
"""Version of the file format that is written."""
_KEY = "metabo_journal"
_OPENING = JOURNAL + f'{FORMAT}, "lines": "'.encode()
COUNT_AT = len(_OPENING)
"""Position in the file of the number of acknowledged records."""
_COUNT_WIDTH = 19
HEAD = COUNT_AT + _COUNT_WIDTH + 80
"""Bytes at the start of a file that contain the number of records and the journal's id."""
_ENDING = re.compile(rb'(.*), "sum": "([0-9a-f]{16})"\}', re.DOTALL)


class Damage(DataError):
    """The content of a journal is not what was written to it."""


@dataclass(frozen=True)
class Entry:
    """A record of a journal, with its number."""

    n: int
    """Number of the record, from 1: record n is line n + 1 of the file."""
    record: dict[str, object]
    """Data of the record."""


@dataclass(frozen=True)
class Content:
    """The content of a journal as far as it has been read."""

    path: Path
    """Path of the file."""
    version: int
    """Version of the file format."""
    header: dict[str, object]
    """Header with which the journal was created."""
    identity: str
    """Random id of the journal; empty in format 1."""
    entries: tuple[Entry, ...]
    """All records read so far."""
    last_sum: str
    """Checksum of the last line; empty in format 1."""
    length: int
    """Number of bytes up to the end of the last complete line."""
    is_torn: bool = False
    """Whether the file ends with an incomplete line."""
    new: tuple[Entry, ...] = field(default=(), compare=False)
    """Records that the last reading added."""


def header_line(identity: str, header: Mapping[str, object]) -> bytes:
    """Return the first line of a new journal."""
    rest = json.dumps({"id": identity, **header}, allow_nan=False)[1:-1].encode()
    body = _OPENING + _count(identity, 0) + b'", ' + rest
    return _with_sum(body, _header_sum(identity, body))


def record_line(content: Content, record: Mapping[str, object]) -> bytes:
    """Return the next line of a journal, for this record."""
    if content.version == 1:
        return json.dumps(record, allow_nan=False).encode() + b"\n"
    numbered = {"n": len(content.entries) + 1, "prev": content.last_sum, **record}
    body = json.dumps(numbered, allow_nan=False)[:-1].encode()
    return _with_sum(body, _sum(content.identity, body))


def count_field(content: Content) -> bytes:
    """Return the bytes to write at `COUNT_AT` once all records are acknowledged."""
    return _count(content.identity, len(content.entries))


def parse(path: Path, data: bytes) -> Content:
    """Parse the complete lines of a journal.

    Raises:
        Damage: If a line is not what was written; the message names the line.
        DataError: If the file is not a journal, or has a newer format.
    """
    begun = parse_header(path, data)
    return parse_more(begun, data[begun.length :], acknowledged=acknowledged(begun, data))


def parse_header(path: Path, data: bytes) -> Content:
    """Parse the first line of a journal only."""
    if not data:
        raise DataError(f"The journal `{shown(path)}` is empty. Begin it with `metabo init`.")
    line, newline, _ = _without_count(data).partition(b"\n")
    header = _object(line) if newline else None
    version = header.pop(_KEY, None) if header else None
    if header is None or not is_whole(version):
        if line.startswith(JOURNAL):
            raise _damage(path, 1, "it cannot be read", is_first=True)
        raise DataError(
            f"`{shown(path)}` is not a journal of metabo, so it is left unchanged. Choose another "
            "file."
        )
    if version == 1:
        return Content(path, 1, header, "", (), "", len(line) + 1)
    if version != FORMAT:
        raise DataError(
            f"`{shown(path)}` is a journal of format {version}, but this version of metabo reads "
            f"formats 1 and {FORMAT}. Install a newer metabo."
        )
    identity, match = str(header.pop("id", "")), _ENDING.fullmatch(line)
    if match is None or match[2] != _header_sum(identity, match[1]).encode():
        raise _damage(path, 1, "its checksum does not match", is_first=True)
    del header["lines"], header["sum"]
    return Content(path, version, header, identity, (), match[2].decode(), len(line) + 1)


def parse_more(content: Content, data: bytes, *, acknowledged: int = 0) -> Content:
    """Parse the complete lines that follow what was already read.

    Args:
        content: The journal as read so far.
        data: The file from `content.length` on.
        acknowledged: Smallest number of records that must be there.

    Raises:
        Damage: If a line is not what was written, or records are missing.
    """
    path, end = content.path, data.rfind(b"\n") + 1
    added: list[Entry] = []
    last_sum = content.last_sum
    for line in data[:end].split(b"\n")[:-1]:
        n = len(content.entries) + len(added) + 1
        record, last_sum = _checked(content, line, n, last_sum)
        added.append(Entry(n, record))
    rest = data[end:].rstrip(b"\0")  # a power failure may leave NULs in place of a line
    known = (*content.entries, *added)
    read = replace(
        content,
        entries=known,
        last_sum=last_sum,
        length=content.length + end,
        is_torn=len(data) > end,
        new=tuple(added),
    )
    if len(known) < acknowledged:
        raise Damage(
            f"The journal `{shown(path)}` has lost its end: {acknowledged} lines were written "
            f"after the first, but only {len(known)} are there. {_advice(path)}"
        )
    if rest and content.version > 1 and not _is_begun(read, rest):
        raise _damage(path, len(known) + 2, "it is not a line of this journal")
    return read


def acknowledged(content: Content, data: bytes) -> int:
    """Return the number of records stored at the start of a file; 0 if it cannot be read."""
    field = data[COUNT_AT : COUNT_AT + _COUNT_WIDTH]
    digits = field[:10]
    if content.version == 1 or not digits.isdigit():
        return 0
    return int(digits) if _count(content.identity, int(digits)) == field else 0


def is_count_lost(content: Content, data: bytes) -> bool:
    """Tell whether the stored number of records is lost, so that the end may be missing."""
    return content.version > 1 and bool(content.entries) and not acknowledged(content, data)


def is_same(content: Content, head: bytes) -> bool:
    """Tell whether a file that starts with `head` is the journal that was read before."""
    if content.version == 1:
        return head.startswith(JOURNAL)
    name = f'", "id": "{content.identity}"'.encode()
    return head[COUNT_AT + _COUNT_WIDTH :].startswith(name)


def last_bytes(content: Content) -> bytes:
    """Return the bytes that must end the last complete line that was read."""
    return f'"{content.last_sum}"}}\n'.encode() if content.version > 1 else b"\n"


def self_checked(identity: str, line: bytes) -> dict[str, object] | None:
    """Return the record of a line of this journal, wherever it is; None if it is damaged."""
    match = _ENDING.fullmatch(line)
    if match is None or match[2] != _sum(identity, match[1]).encode():
        return None
    return _object(line)


def _checked(content: Content, line: bytes, n: int, prev: str) -> tuple[dict[str, object], str]:
    if content.version == 1:
        plain = _object(line)
        if plain is None:
            raise _damage(content.path, n + 1, "it is not a JSON object")
        return plain, ""
    record = self_checked(content.identity, line)
    if record is None:
        raise _damage(content.path, n + 1, "its checksum does not match")
    if record.pop("n", None) != n or record.pop("prev", None) != prev:
        raise _damage(
            content.path, n + 1, "it does not follow the line before (dropped, repeated or moved)"
        )
    return record, str(record.pop("sum"))


def _is_begun(content: Content, rest: bytes) -> bool:
    """Tell whether the rest of a file can be the start of the next line."""
    start = f'{{"n": {len(content.entries) + 1}, "prev": "{content.last_sum}", '.encode()
    return rest.startswith(start) or start.startswith(rest)


def _object(line: bytes) -> dict[str, object] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _with_sum(body: bytes, checksum: str) -> bytes:
    return body + f', "sum": "{checksum}"}}\n'.encode()


def _sum(identity: str, body: bytes, size: int = 8) -> str:
    return blake2b(body, digest_size=size, key=identity.encode()[:64]).hexdigest()


def _header_sum(identity: str, body: bytes) -> str:
    """Return the checksum of the header without `lines`, the one field that changes."""
    return _sum(identity, _without_count(body))


def _without_count(data: bytes) -> bytes:
    if not data.startswith(_OPENING):
        return data
    return data[:COUNT_AT] + b"0" * _COUNT_WIDTH + data[COUNT_AT + _COUNT_WIDTH :]


def _count(identity: str, n: int) -> bytes:
    digits = f"{n:010d}"
    return f"{digits} {_sum(identity, digits.encode(), 4)}".encode()


def _damage(path: Path, number: int, problem: str, *, is_first: bool = False) -> Damage:
    intact = f"The lines before it are intact. {_advice(path)}"
    remedy = "Restore the file from a backup." if is_first else intact
    return Damage(f"Line {number} of the journal `{shown(path)}` is damaged: {problem}. {remedy}")


def _advice(path: Path) -> str:
    file = quote(shown(path))
    return f"Copy the intact lines into a new file with `metabo show {file} --repair`."
