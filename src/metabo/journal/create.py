"""Atomic creation of journals: a file appears with its first line, or not at all."""

import errno
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from metabo.errors import OutputError, shown
from metabo.inputs import FLAGS
from metabo.journal.lock import PATIENCE, lock, unlock
from metabo.journal.raw import write_at
from metabo.store import sync_folder


def refused(path: Path, error: OSError) -> OutputError:
    """Return the error for a journal that cannot be written."""
    remedy = {
        errno.ENOENT: "Create its folder first.",
        errno.ENOTDIR: "Create its folder first.",
        errno.ENOSPC: "Free some disk space.",
        errno.EDQUOT: "Free some disk space.",
    }.get(error.errno or 0, "Choose a file that you may write to.")
    return OutputError(
        f"The journal `{shown(path)}` cannot be written: {error.strerror or error}. Nothing was "
        f"added. {remedy}"
    )


def create(path: Path, line: bytes) -> None:
    """Create a file with its first line atomically; keep a file that appeared in the meantime."""
    draft = path.parent / f".{secrets.token_hex(8)}.journal"
    try:
        try:
            file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | FLAGS, 0o666)
            try:
                write_at(file, line, 0)
                os.fsync(file)
            finally:
                os.close(file)
            _publish(draft, path)
        finally:
            draft.unlink(missing_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        raise refused(path, error) from None


def _publish(draft: Path, path: Path) -> None:
    """Give the draft its name, unless a file with content has taken the name by now."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        _replace_empty(draft, path)
    except OSError:  # a file system without hard links
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | FLAGS, 0o666))
        _replace_empty(draft, path)


def _replace_empty(draft: Path, path: Path) -> None:
    """Replace an empty file by the draft; the lock ensures that only one process does."""
    file = os.open(path, os.O_RDWR | FLAGS)
    try:
        lock(file, path, time.monotonic() + PATIENCE)
        try:
            now = path.stat()
            if now.st_size == 0 and now.st_ino == os.fstat(file).st_ino:
                draft.replace(path)
        finally:
            unlock(file)
    finally:
        os.close(file)
