"""Journals on disk: created atomically, read as they grow, written to in turns."""

import logging
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

from metabo.errors import BusyError, shown
from metabo.inputs import FLAGS, kind_of, read_bytes, require_file
from metabo.journal.create import create, refused
from metabo.journal.lines import (
    COUNT_AT,
    FORMAT,
    HEAD,
    Damage,
    Entry,
    acknowledged,
    count_field,
    header_line,
    is_count_lost,
    is_same,
    last_bytes,
    parse,
    parse_more,
    record_line,
)
from metabo.journal.lock import PATIENCE, lock, unlock
from metabo.journal.raw import read_at, write_at
from metabo.journal.turn import Turn

_log = logging.getLogger(__name__)


class Journal:
    """A journal that any number of threads and processes can read and write at the same time.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     journal = Journal.begin(Path(folder) / "run.jsonl", {"budget": 30})
        ...     entries = journal.append({"value": 1.5})
        >>> journal.header, entries[0].n, entries[0].record
        ({'budget': 30}, 1, {'value': 1.5})
    """

    def __init__(self, path: Path) -> None:
        """Read an existing journal.

        Raises:
            DataError: If the file is missing, damaged or not a journal.
        """
        self.path = path
        self._place = path.absolute()  # each turn reopens it, even after a change of directory
        self._turn = Turn()
        data = read_bytes(path, "journal")
        self._content = parse(path, data)
        self._warned_of = 0
        if is_count_lost(self._content, data):
            _log.warning(
                "The number of lines in the first line of `%s` is damaged, so a missing end of "
                "the file would go unnoticed. The next record restores the number.",
                shown(path),
            )
        if self._content.version < FORMAT:
            _log.warning(
                "The journal `%s` is of format 1, whose lines have no checksums. It still works; "
                "`metabo show %s --repair` copies it into a new file of format %d.",
                *(shown(path), quote(shown(path)), FORMAT),
            )

    @classmethod
    def begin(cls, path: Path, header: Mapping[str, object]) -> "Journal":
        """Create a journal with this header, or open it if it already exists.

        The file is created atomically, with its header and its directory entry on the disk. An
        empty file is treated as new; any other file that is not a journal is left untouched.

        Raises:
            DataError: If the file exists but is damaged or not a journal.
            OutputError: If it cannot be created.
        """
        kind = kind_of(path, "journal")
        is_empty = kind == "file" and not path.stat().st_size
        if is_empty:
            _log.warning("The file `%s` is empty. Starting a new run in it.", shown(path))
        if kind == "missing" or is_empty:
            create(path.resolve(), header_line(secrets.token_hex(8), header))
        return cls(path)

    @property
    def version(self) -> int:
        """Version of the file format."""
        return self._content.version

    @property
    def header(self) -> dict[str, object]:
        """Header with which the journal was created."""
        return self._content.header

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All records read so far."""
        return self._content.entries

    def refresh(self) -> tuple[Entry, ...]:
        """Read the records that others have written since the last reading, and return them."""
        with self.alone():
            file = self._opened(os.O_RDONLY)
            try:
                return self._catch_up(file)
            finally:
                os.close(file)

    def append(self, record: Mapping[str, object]) -> tuple[Entry, ...]:
        """Append a record durably.

        When this returns, the record is on the disk; after an error, it is not. (An interrupt by
        the user may arrive when it already is.)

        Returns:
            The records that others have written since the last reading, followed by this one.

        Raises:
            BusyError: If another thread or process kept the journal locked for too long.
            DataError: If the journal is damaged.
            OutputError: If the record cannot be written.
        """
        with self.turn() as turn:
            return (*turn.others, turn.append(record))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Exclude the other threads of this process."""
        if not self._turn.acquire(PATIENCE):
            raise BusyError(
                f"The journal `{shown(self.path)}` was in use for {PATIENCE:g} s by another "
                "thread of this process. Nothing was added. Try again."
            )
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def turn(self) -> Iterator["Writing"]:
        """Exclude all other writers, to read and then write without interference."""
        deadline = time.monotonic() + PATIENCE
        with self.alone():
            file = self._opened(os.O_RDWR)
            try:
                lock(file, self.path, deadline)
                try:
                    yield Writing(self, file)
                finally:
                    unlock(file)
            finally:
                os.close(file)

    def _opened(self, mode: int) -> int:
        require_file(self._place, "journal")
        try:
            return os.open(self._place, mode | FLAGS)
        except OSError as error:
            raise refused(self.path, error) from None

    def _catch_up(self, file: int) -> tuple[Entry, ...]:
        """Read the part of an open file that is not known yet."""
        known = self._content
        # Read the number of lines first: it is never ahead of lines that are read after it.
        head = read_at(file, 0, HEAD)
        rest = read_at(file, known.length)
        end = last_bytes(known)
        is_known = read_at(file, known.length - len(end), len(end)) == end
        if not (is_same(known, head) and is_known and self._is_still(file)):
            raise Damage(
                f"The journal `{shown(self.path)}` is not the one that was opened: it was "
                "replaced or truncated. Restore it, or open it again."
            )
        self._content = parse_more(known, rest, acknowledged=acknowledged(known, head))
        return self._content.new

    def _is_still(self, file: int) -> bool:
        """Tell whether the path still leads to this open file."""
        with suppress(OSError):
            return os.fstat(file).st_ino == self._place.stat().st_ino
        return False


class Writing:
    """One turn at a journal: all records are known, and nobody else can write."""

    def __init__(self, journal: Journal, file: int) -> None:
        self._journal, self._file = journal, file
        self.others = journal._catch_up(file)
        """Records that others have written since the last reading."""

    @property
    def next_n(self) -> int:
        """Number of the next record."""
        return len(self._journal.entries) + 1

    def append(self, record: Mapping[str, object]) -> Entry:
        """Append a record durably.

        Raises:
            OutputError: If the record cannot be written.
        """
        journal, before = self._journal, self._journal._content
        line = record_line(before, record)
        if before.is_torn and journal._warned_of != before.length:
            journal._warned_of = before.length
            _log.warning(
                "The last line of `%s` is incomplete and was never acknowledged, so it is "
                "dropped.",
                shown(journal.path),
            )
        try:
            if before.is_torn:
                os.ftruncate(self._file, before.length)
            write_at(self._file, line, before.length)
            os.fsync(self._file)
        except BaseException as error:
            with suppress(OSError):
                os.ftruncate(self._file, before.length)
            if isinstance(error, OSError):
                raise refused(journal.path, error) from None
            raise
        after = parse_more(before, line)
        journal._content = replace(after, is_torn=False)
        if after.version > 1:
            # Only after the record is safe: the number must never be ahead of the disk.
            with suppress(OSError):
                write_at(self._file, count_field(after), COUNT_AT)
        return after.new[0]
