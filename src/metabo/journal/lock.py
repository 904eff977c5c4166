"""Locks for files that several processes write to.

The lock belongs to an open file, not to a process: each turn reopens the file, so that threads and
forks exclude each other too, and the end of a process, however it comes, releases the lock.
"""

import errno
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from metabo.errors import BusyError, OutputError, shown

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PATIENCE = 60.0
"""Seconds to wait for a lock before giving up."""
_FAR = 2**60
"""Position of the byte to lock on Windows, beyond the end of every journal."""
_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""Error codes that mean that somebody else holds the lock."""
_HELD: set[int] = set()
"""Files that this process has locked: a forked child closes them so as not to hold the lock."""


def lock(file: int, path: Path, deadline: float) -> None:
    """Lock a file until `unlock`, waiting until `time.monotonic()` passes the deadline.

    Raises:
        BusyError: If the lock was not free in time; the message names its holder.
        OutputError: If the file system has no locks.
    """
    pause = 0.0005
    while not _tried(file, path):
        if time.monotonic() > deadline:
            raise BusyError(
                f"The journal `{shown(path)}` was in use for {PATIENCE:g} s by "
                f"{holder(file) or 'another process'}. Nothing was added. Try again, or stop that "
                "process."
            )
        # A random factor keeps waiting processes from trying in step.
        time.sleep(pause * (0.5 + time.monotonic_ns() % 1000 / 1000))
        pause = min(2 * pause, 0.02)
    _HELD.add(file)


def unlock(file: int) -> None:
    """Release the lock of a file."""
    if sys.platform == "win32":
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_UN)
    _HELD.discard(file)


def holder(file: int) -> str | None:
    """Return a description of the process that has locked a file; None if it is unknown."""
    known = os.fstat(file)
    place = f"{os.major(known.st_dev):02x}:{os.minor(known.st_dev):02x}:{known.st_ino}"
    with suppress(OSError, ValueError, IndexError):
        for row in Path("/proc/locks").read_text().splitlines():
            words = row.split()  # 1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF
            if words[1] == "FLOCK" and words[5] == place:
                return _named(int(words[4]))
    return None


def _named(process: int) -> str:
    if process == os.getpid():
        return f"this process ({process})"
    with suppress(OSError):
        return f"process {process} ({Path(f'/proc/{process}/comm').read_text().strip()})"
    return f"process {process}"


def _tried(file: int, path: Path) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(file, _FAR, os.SEEK_SET)  # a locked byte cannot be read
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise OutputError(
            f"The journal `{shown(path)}` cannot be locked: {error.strerror or error}. Nothing "
            "was added. Keep the journal on a local disk."
        ) from None
    return True


def _close_inherited() -> None:
    for file in _HELD:
        with suppress(OSError):
            os.close(file)
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)
