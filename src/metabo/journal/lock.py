"""Waiting for one's turn to write to a file that other processes may be writing to.

The lock belongs to an open file, not to a process: each turn opens the file anew, so that threads
and forks keep each other out as well, and whatever ends a process ends its turn.
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
"""Seconds to wait for a turn before giving up."""
_FAR = 2**60
"""A byte beyond every journal's end."""
_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""What a system says when somebody else has the lock."""
_HELD: set[int] = set()
"""Files that this process has locked: a fork must not keep them locked when it dies."""


def lock(file: int, path: Path, deadline: float) -> None:
    """Keep everybody else out until `unlock`, waiting until a time of `time.monotonic`.

    Raises:
        BusyError: If the turn did not come in time; it names who has it.
        OutputError: If there are no locks where the file is.
    """
    pause = 0.0005
    while not _tried(file, path):
        if time.monotonic() > deadline:
            raise BusyError(
                f"The journal `{shown(path)}` was in use for {PATIENCE:g} s by "
                f"{holder(file) or 'another process'}. Nothing was added: try again, or stop that "
                "process."
            )
        time.sleep(pause * (0.5 + time.monotonic_ns() % 1000 / 1000))  # not in step with others
        pause = min(2 * pause, 0.02)
    _HELD.add(file)


def unlock(file: int) -> None:
    """Let the next one have the file."""
    if sys.platform == "win32":
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_UN)
    _HELD.discard(file)


def holder(file: int) -> str | None:
    """Who has a file locked, where the system tells."""
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
            "was added: keep it in a folder on a local disk."
        ) from None
    return True


def _close_inherited() -> None:
    for file in _HELD:
        with suppress(OSError):
            os.close(file)
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)
