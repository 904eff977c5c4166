"""A journal on the disk: begun in one step, read as it grows, written to in turns."""

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
    """A journal that any number of threads and processes may read and write at once."""

    def __init__(self, path: Path) -> None:
        """Read an existing journal.

        Raises:
            DataError: If the file is missing, damaged or not a journal.
        """
        self.path = path
        self._place = path.absolute()  # each turn opens it anew, wherever the process is by then
        self._turn = Turn()
        data = read_bytes(path, "journal")
        self._content = parse(path, data)
        self._warned_of = 0
        if is_count_lost(self._content, data):
            _log.warning(
                "The number of lines in the first line of `%s` is damaged, so nobody can say "
                "whether the end of the file was cut off. The next line will mend it.",
                shown(path),
            )
        if self._content.version < FORMAT:
            _log.warning(
                "The journal `%s` is of format 1, whose lines have no checksums. It works as "
                "before; `metabo show %s --repair` copies it into a new file of format %d.",
                *(shown(path), quote(shown(path)), FORMAT),
            )

    @classmethod
    def begin(cls, path: Path, header: Mapping[str, object]) -> "Journal":
        """Create a journal with this header, or open the one that is there.

        The file appears with its header in it and its name on the disk, or not at all. An empty
        file is taken for a new one; any other that is not a journal is left as it is.
        """
        kind = kind_of(path, "journal")
        is_empty = kind == "file" and not path.stat().st_size
        if is_empty:
            _log.warning("The file `%s` is empty: a new run begins in it.", shown(path))
        if kind == "missing" or is_empty:
            create(path.resolve(), header_line(secrets.token_hex(8), header))
        return cls(path)

    @property
    def version(self) -> int:
        """The format."""
        return self._content.version

    @property
    def header(self) -> dict[str, object]:
        """What the journal was begun with."""
        return self._content.header

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All records read so far."""
        return self._content.entries

    def refresh(self) -> tuple[Entry, ...]:
        """Read what others have written since; give only that."""
        with self.alone():
            file = self._opened(os.O_RDONLY)
            try:
                return self._catch_up(file)
            finally:
                os.close(file)

    def append(self, record: Mapping[str, object]) -> tuple[Entry, ...]:
        """Add a record; when this returns it is on the disk, and after an error it is not there.

        (An interrupt by the user may come when it is there already.)

        Returns:
            What others have written since the last reading, then this record.

        Raises:
            BusyError: If the turn did not come in time.
            DataError: If the journal is damaged.
            OutputError: If the record cannot be written.
        """
        with self.turn() as turn:
            return (*turn.others, turn.append(record))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep the other threads of this process out."""
        if not self._turn.acquire(PATIENCE):
            raise BusyError(
                f"The journal `{shown(self.path)}` was in use for {PATIENCE:g} s by another "
                "thread of this process. Nothing was added: try again."
            )
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def turn(self) -> Iterator["Writing"]:
        """Keep everybody else from writing, to look and then to write."""
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
        """Read what an open file has beyond what is known."""
        known = self._content
        # The number of lines first: it is never ahead of lines that are read after it.
        head = read_at(file, 0, HEAD)
        rest = read_at(file, known.length)
        end = last_bytes(known)
        is_known = read_at(file, known.length - len(end), len(end)) == end
        if not (is_same(known, head) and is_known and self._is_still(file)):
            raise Damage(
                f"The journal `{shown(self.path)}` is not the one that was opened: it was "
                "replaced or cut. Restore it, or open it again."
            )
        self._content = parse_more(known, rest, acknowledged=acknowledged(known, head))
        return self._content.new

    def _is_still(self, file: int) -> bool:
        """Whether an open file is the one that the path leads to."""
        with suppress(OSError):
            return os.fstat(file).st_ino == self._place.stat().st_ino
        return False


class Writing:
    """One turn at a journal: what others wrote is known, and nobody else can write."""

    def __init__(self, journal: Journal, file: int) -> None:
        self._journal, self._file = journal, file
        self.others = journal._catch_up(file)
        """What others have written since the last reading."""

    @property
    def next_n(self) -> int:
        """The number that the next record will have."""
        return len(self._journal.entries) + 1

    def append(self, record: Mapping[str, object]) -> Entry:
        """Add a record durably."""
        journal, before = self._journal, self._journal._content
        line = record_line(before, record)
        if before.is_torn and journal._warned_of != before.length:
            journal._warned_of = before.length
            _log.warning(
                "The last line of `%s` was never finished and is left out: it was not "
                "acknowledged.",
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
            # After the record is safe: the number is never ahead of what is on the disk.
            with suppress(OSError):
                write_at(self._file, count_field(after), COUNT_AT)
        return after.new[0]
