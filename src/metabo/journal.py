"""An append-only file of JSON lines, one header and then records, that survives being killed.

A record is on the disk before `append` returns. A process that dies while writing leaves a last
line without its end, which the next one cuts off: nothing that was acknowledged is in it. While a
process has a journal open, no other can open it for writing.
"""

import json
import logging
import os
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from metabo.errors import BusyError, DataError, OutputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FORMAT = 1
_KEY = "metabo_journal"
_FAR = 2**60
"""A byte beyond every journal's end."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Content:
    """What a journal holds."""

    header: dict[str, object] | None
    """None where nothing was written yet."""
    records: list[dict[str, object]]
    """Record i stands in line i + 2 of the file."""
    length: int
    """Bytes up to the end of the last whole line."""


def read(path: Path) -> Content:
    """The whole lines of a journal, which another process may be writing to."""
    try:
        return _parsed(path, path.read_bytes())
    except OSError as error:
        raise DataError(
            f"The journal `{path}` cannot be read: {error.strerror or error}. Check the path."
        ) from None


class Journal:
    """A journal that is open for writing, by this process alone."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it, and cut off a line that was never finished."""
        self.path = path
        try:
            binary = getattr(os, "O_BINARY", 0)  # Windows would translate ends of lines
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | binary, 0o666)
        except OSError as error:
            raise _refused(path, error) from None
        self._closed = weakref.finalize(self, os.close, self._file)
        try:
            _lock(path, self._file)
            content = path.read_bytes()
            known = _parsed(path, content)
        except BaseException:
            self.close()
            raise
        self.header, self.records = known.header, known.records
        self._length = known.length
        if known.length < len(content):
            _log.warning(
                "The last line of `%s` was never finished and is left out: its value was not "
                "acknowledged.",
                path,
            )
            os.ftruncate(self._file, known.length)
            os.fsync(self._file)

    def begin(self, header: Mapping[str, object]) -> None:
        """Write the header of a new journal; its name is on the disk too when this returns."""
        self.append({_KEY: FORMAT, **header})
        self.header = dict(header)
        _sync_folder(self.path.absolute().parent)

    def append(self, record: Mapping[str, object]) -> None:
        """Add a line; when this returns it is on the disk, and when it raises it is not there."""
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        try:
            self._write(line)
            os.fsync(self._file)
        except BaseException as error:
            os.ftruncate(self._file, self._length)
            if isinstance(error, OSError):
                raise _refused(self.path, error) from None
            raise
        self._length += len(line)

    def close(self) -> None:
        """Let others have the file."""
        self._closed()

    def _write(self, line: bytes) -> None:
        at = self._length
        while line:
            os.lseek(self._file, at, os.SEEK_SET)
            written = os.write(self._file, line)
            at, line = at + written, line[written:]


def _parsed(path: Path, content: bytes) -> Content:
    whole = content[: content.rfind(b"\n") + 1]
    lines = [_line(path, i + 1, text) for i, text in enumerate(whole.splitlines())]
    if not lines:
        return Content(None, [], 0)
    header, *records = lines
    version = header.pop(_KEY, None)
    if version != FORMAT:
        is_newer = isinstance(version, int) and version > FORMAT
        raise DataError(
            f"`{path}` is a journal of format {version}, but this version of metabo reads "
            f"{FORMAT}. Install a newer metabo."
            if is_newer
            else f"`{path}` is not a journal of metabo: its first line is none. Give another file."
        )
    return Content(header, records, len(whole))


def _line(path: Path, number: int, text: bytes) -> dict[str, object]:
    try:
        record = json.loads(text)
        if isinstance(record, dict):
            return record
        problem = "it is not an object"
    except (ValueError, RecursionError) as error:
        problem = str(error)
    raise DataError(
        f"Line {number} of the journal `{path}` cannot be read: {problem}. Restore the file, or "
        "remove the line if you can do without it."
    )


def _lock(path: Path, file: int) -> None:
    """Keep other processes out until the file is closed, by whatever end of this one."""
    try:
        if sys.platform == "win32":
            os.lseek(file, _FAR, os.SEEK_SET)  # a locked byte cannot be read
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BusyError(
            f"The journal `{path}` is in use by another process. Wait until that has ended, or "
            "use another journal."
        ) from None


def _sync_folder(folder: Path) -> None:
    """Make a new file's name durable, where folders can be opened at all."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _refused(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"The journal `{path}` cannot be written: {error.strerror or error}. Nothing was added; "
        "make room, or choose another file."
    )
