"""How a journal comes to be: with its first line in it, or not at all."""

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
    """The error for a journal that cannot be written."""
    remedy = {
        errno.ENOENT: "Create its folder first.",
        errno.ENOTDIR: "Create its folder first.",
        errno.ENOSPC: "Make room on the disk.",
        errno.EDQUOT: "Make room on the disk.",
    }.get(error.errno or 0, "Choose a file that you may write to.")
    return OutputError(
        f"The journal `{shown(path)}` cannot be written: {error.strerror or error}. Nothing was "
        f"added. {remedy}"
    )


def create(path: Path, line: bytes) -> None:
    """Let a file appear with its first line in it; one that appeared meanwhile is kept."""
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
    """Give the draft its name, unless the name stands for something by now."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        _replace_empty(draft, path)
    except OSError:  # a file system without hard links
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | FLAGS, 0o666))
        _replace_empty(draft, path)


def _replace_empty(draft: Path, path: Path) -> None:
    """Put the draft in the place of an empty file, which one process alone can do."""
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
