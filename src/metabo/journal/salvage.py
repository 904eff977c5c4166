"""Recovery of a damaged journal: every line with a valid checksum, wherever it is."""

from dataclasses import dataclass, replace
from pathlib import Path

from metabo.journal.lines import Content, Damage, Entry, acknowledged, parse_header, parse_more
from metabo.journal.lines import self_checked as checked


@dataclass(frozen=True)
class Salvage:
    """The intact records of a journal in order, and which ones are missing."""

    content: Content
    """The journal with its intact records."""
    left_out: tuple[tuple[int, str], ...]
    """Damaged or foreign lines: their line number in the file and their text."""
    missing: tuple[int, ...]
    """Numbers of the records that were written but are not intact anywhere in the file."""


def salvage(path: Path, data: bytes) -> Salvage:
    """Read all intact records of a journal whose header is intact.

    In format 1, whose lines have no checksums, all lines that are JSON objects count as intact.

    Raises:
        DataError: If the header is damaged or the file is not a journal.
    """
    begun = parse_header(path, data)
    found: dict[int, dict[str, object]] = {}
    left_out: list[tuple[int, str]] = []
    lines = data[begun.length :].split(b"\n")
    for number, line in enumerate(lines, 2):
        if not line and number == len(lines) + 1:  # the empty rest after the last newline
            continue
        record, n = _record(begun, line), number - 1
        if record is not None and begun.version > 1:
            n = record.pop("n")  # type: ignore[assignment]
            del record["prev"], record["sum"]
        if record is None:
            left_out.append((number, line.decode(errors="replace")))
        else:
            found.setdefault(n, record)
    entries = tuple(Entry(n, found[n]) for n in sorted(found))
    most = max([acknowledged(begun, data), *found])
    missing = tuple(n for n in range(1, most + 1) if n not in found)
    return Salvage(replace(begun, entries=entries), tuple(left_out), missing)


def _record(begun: Content, line: bytes) -> dict[str, object] | None:
    if begun.version > 1:
        return checked(begun.identity, line)
    try:
        return parse_more(begun, line + b"\n").entries[0].record
    except Damage:
        return None
