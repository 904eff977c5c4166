"""The lines of a journal: how they are written, and how damage in them is found.

The first line is the header, and every line after it is a record:

    {"metabo_journal": 2, "lines": "0000000012 5f3a09c1", "id": "...", ..., "sum": "..."}
    {"n": 1, "prev": "...", ..., "sum": "..."}

| field   | meaning                                                                          |
| ------- | -------------------------------------------------------------------------------- |
| `n`     | number of the record, 1 for the second line of the file                          |
| `prev`  | checksum of the line before: a dropped, swapped or doubled line breaks the chain |
| `sum`   | checksum of this line up to here, keyed by `id`: a line of another journal fails |
| `lines` | records acknowledged so far, with a checksum of its own                          |

`lines` has a fixed width and is overwritten after each record, so that a file whose end was cut
off is noticed. If it is half written it is not used, and the next record mends it.

Format 1 had neither numbers nor checksums. Its lines are only checked for being JSON objects.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from shlex import quote

from metabo.errors import DataError, shown
from metabo.store import JOURNAL

FORMAT = 2
_KEY = "metabo_journal"
_OPENING = JOURNAL + f'{FORMAT}, "lines": "'.encode()
COUNT_AT = len(_OPENING)
"""Where in the file the number of acknowledged records stands."""
_COUNT_WIDTH = 19
HEAD = COUNT_AT + _COUNT_WIDTH + 80
"""Bytes of a file that have the number of records and the journal's name in them."""
_ENDING = re.compile(rb'(.*), "sum": "([0-9a-f]{16})"\}', re.DOTALL)


class Damage(DataError):
    """A journal that is not what was written."""


@dataclass(frozen=True)
class Entry:
    """A record of a journal."""

    n: int
    """Its number: record n stands in line n + 1 of the file."""
    record: dict[str, object]


@dataclass(frozen=True)
class Content:
    """What a journal holds, as far as it was read."""

    path: Path
    version: int
    header: dict[str, object]
    identity: str
    """A random name, drawn when the journal was begun; empty in format 1."""
    entries: tuple[Entry, ...]
    last_sum: str
    """Checksum of the last line; empty in format 1."""
    length: int
    """Bytes up to the end of the last whole line."""
    is_torn: bool = False
    """Whether the file has a last line that was never finished."""
    new: tuple[Entry, ...] = field(default=(), compare=False)
    """What the last reading added."""


def header_line(identity: str, header: Mapping[str, object]) -> bytes:
    """The first line of a new journal."""
    rest = json.dumps({"id": identity, **header}, allow_nan=False)[1:-1].encode()
    body = _OPENING + _count(identity, 0) + b'", ' + rest
    return _with_sum(body, _header_sum(identity, body))


def record_line(content: Content, record: Mapping[str, object]) -> bytes:
    """The next line of a journal."""
    if content.version == 1:
        return json.dumps(record, allow_nan=False).encode() + b"\n"
    numbered = {"n": len(content.entries) + 1, "prev": content.last_sum, **record}
    body = json.dumps(numbered, allow_nan=False)[:-1].encode()
    return _with_sum(body, _sum(content.identity, body))


def count_field(content: Content) -> bytes:
    """What stands at `COUNT_AT` once all records of a journal are acknowledged."""
    return _count(content.identity, len(content.entries))


def parse(path: Path, data: bytes) -> Content:
    """The whole lines of a journal.

    Raises:
        Damage: If a line is not what was written; it names the line.
        DataError: If the file is not a journal, or of a newer format.
    """
    begun = parse_header(path, data)
    return parse_more(begun, data[begun.length :], acknowledged=acknowledged(begun, data))


def parse_header(path: Path, data: bytes) -> Content:
    """The first line alone."""
    if not data:
        raise DataError(f"The journal `{shown(path)}` is empty. Begin it with `metabo init`.")
    line, newline, _ = _without_count(data).partition(b"\n")
    header = _object(line) if newline else None
    version = header.pop(_KEY, None) if header else None
    if header is None or isinstance(version, bool) or not isinstance(version, int):
        if line.startswith(JOURNAL):
            raise _damage(path, 1, "it cannot be read", is_first=True)
        raise DataError(
            f"`{shown(path)}` is not a journal of metabo, so it is left as it is. Choose another "
            "file."
        )
    if version == 1:
        return Content(path, 1, header, "", (), "", len(line) + 1)
    if version != FORMAT:
        raise DataError(
            f"`{shown(path)}` is a journal of format {version}, but this version of metabo reads "
            f"1 and {FORMAT}. Install a newer metabo."
        )
    identity, match = str(header.pop("id", "")), _ENDING.fullmatch(line)
    if match is None or match[2] != _header_sum(identity, match[1]).encode():
        raise _damage(path, 1, "its checksum does not fit", is_first=True)
    del header["lines"], header["sum"]
    return Content(path, version, header, identity, (), match[2].decode(), len(line) + 1)


def parse_more(content: Content, data: bytes, *, acknowledged: int = 0) -> Content:
    """The journal with the whole lines of what follows.

    Args:
        content: What was read before.
        data: The file from `content.length` on.
        acknowledged: How many records there must be at least.
    """
    path, end = content.path, data.rfind(b"\n") + 1
    added: list[Entry] = []
    last_sum = content.last_sum
    for line in data[:end].split(b"\n")[:-1]:
        n = len(content.entries) + len(added) + 1
        record, last_sum = _checked(content, line, n, last_sum)
        added.append(Entry(n, record))
    rest = data[end:].rstrip(b"\0")  # which a power failure may leave where a line was to be
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
            f"after the first, but {len(known)} are there. {_advice(path)}"
        )
    if rest and content.version > 1 and not _is_begun(read, rest):
        raise _damage(path, len(known) + 2, "it is not a line of this journal")
    return read


def acknowledged(content: Content, data: bytes) -> int:
    """How many records the beginning of a file says there are; 0 where it cannot say."""
    field = data[COUNT_AT : COUNT_AT + _COUNT_WIDTH]
    digits = field[:10]
    if content.version == 1 or not digits.isdigit():
        return 0
    return int(digits) if _count(content.identity, int(digits)) == field else 0


def is_count_lost(content: Content, data: bytes) -> bool:
    """Whether a file cannot say how many records there must be: its end may be cut off."""
    return content.version > 1 and bool(content.entries) and not acknowledged(content, data)


def is_same(content: Content, head: bytes) -> bool:
    """Whether a file that begins like this is the journal that was read before."""
    if content.version == 1:
        return head.startswith(JOURNAL)
    name = f'", "id": "{content.identity}"'.encode()
    return head[COUNT_AT + _COUNT_WIDTH :].startswith(name)


def last_bytes(content: Content) -> bytes:
    """What must stand before the end of the last whole line that was read."""
    return f'"{content.last_sum}"}}\n'.encode() if content.version > 1 else b"\n"


def self_checked(identity: str, line: bytes) -> dict[str, object] | None:
    """The record of a line of this journal wherever it stands; None if it is damaged."""
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
        raise _damage(content.path, n + 1, "its checksum does not fit")
    if record.pop("n", None) != n or record.pop("prev", None) != prev:
        raise _damage(
            content.path, n + 1, "it does not follow the line before (dropped, doubled or moved)"
        )
    return record, str(record.pop("sum"))


def _is_begun(content: Content, rest: bytes) -> bool:
    """Whether the rest of a file can be the beginning of the next line."""
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
    """Of the header without the one field that changes."""
    return _sum(identity, _without_count(body))


def _without_count(data: bytes) -> bytes:
    if not data.startswith(_OPENING):
        return data
    return data[:COUNT_AT] + b"0" * _COUNT_WIDTH + data[COUNT_AT + _COUNT_WIDTH :]


def _count(identity: str, n: int) -> bytes:
    digits = f"{n:010d}"
    return f"{digits} {_sum(identity, digits.encode(), 4)}".encode()


def _damage(path: Path, number: int, problem: str, *, is_first: bool = False) -> Damage:
    intact = f"What stands before it is intact. {_advice(path)}"
    remedy = "Restore the file from a copy." if is_first else intact
    return Damage(f"Line {number} of the journal `{shown(path)}` is damaged: {problem}. {remedy}")


def _advice(path: Path) -> str:
    file = quote(shown(path))
    return f"Copy what is intact into a new file with `metabo show {file} --repair`."
