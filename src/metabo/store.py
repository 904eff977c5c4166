"""Files of results: written whole or not at all, and on the disk when the writer returns."""

import json
import os
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from metabo.errors import OutputError, shown

JOURNAL = b'{"metabo_journal": '
"""How the journals of runs begin."""


def require_writable(folder: Path, names: Sequence[str]) -> None:
    """Make sure, before any computing, that these files can be written; nothing is made yet."""
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)):
            pass
        for name in names:
            if (folder / name).is_dir():
                raise IsADirectoryError(21, f"`{name}` is a folder there")
    except (OSError, ValueError) as error:
        raise _refused(folder, error) from None


def is_writable(folder: Path) -> bool:
    """Whether files can be written there."""
    try:
        require_writable(folder, ())
    except OutputError:
        return False
    return True


def write_all(
    folder: Path,
    files: Mapping[str, Callable[[Path], object]],
    *,
    keeping: Mapping[str, str] | None = None,
) -> None:
    """Let each function write a temporary file, then move all to their names.

    Whoever looks sees the old files or the new ones, never half a file; if one cannot be written,
    none is. When this returns, they are on the disk.

    Args:
        folder: Created if it does not exist.
        files: What writes each file, by name.
        keeping: New names for files that would be replaced; missing files are skipped.

    Raises:
        OutputError: If a file cannot be written.
    """
    for name in files:
        _require_no_journal(folder / name)
    # Random names: processes and threads that write the same file do not meet.
    mark = secrets.token_hex(6)
    temporary = {name: folder / f".{mark}.{name}" for name in files}
    try:
        nearest = _nearest(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, save in files.items():
            save(temporary[name])
            _sync_file(temporary[name])
        for name, kept in (keeping or {}).items():
            with suppress(FileNotFoundError):
                (folder / name).replace(folder / kept)
        for name in files:
            temporary[name].replace(folder / name)
    except OSError as error:
        raise _refused(folder, error) from None
    finally:
        for path in temporary.values():
            with suppress(OSError):
                path.unlink(missing_ok=True)
    sync_folder(folder)
    for parent in folder.absolute().parents:  # names of folders that were made just now
        if not parent.is_relative_to(nearest):
            break
        sync_folder(parent)


def _require_no_journal(path: Path) -> None:
    """Raise rather than replace a file that keeps what somebody told."""
    start = b""
    with suppress(OSError, ValueError):
        if path.is_file():
            with path.open("rb") as file:
                start = file.read(len(JOURNAL))
    if start == JOURNAL:
        raise OutputError(
            f"`{shown(path)}` is the journal of a run, which nothing may replace. Choose another "
            "name or folder."
        )


def sync_folder(folder: Path) -> None:
    """Make the names of a folder's files durable, where folders can be opened (not on Windows)."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def save_bytes(content: bytes) -> Callable[[Path], object]:
    """A function that writes these bytes."""
    return lambda path: path.write_bytes(content)


def save_json(record: Mapping[str, object] | Sequence[object]) -> Callable[[Path], object]:
    """A function that writes the record as strict JSON: NaN and infinity are refused."""
    text = json.dumps(record, allow_nan=False)
    return lambda path: path.write_text(text)


def _nearest(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    return next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())


def _sync_file(path: Path) -> None:
    with path.open("rb+") as file:  # Windows syncs only what is open for writing
        os.fsync(file.fileno())


def _refused(folder: Path, error: Exception) -> OutputError:
    reason = error.strerror or error if isinstance(error, OSError) else error
    return OutputError(
        f"The output folder `{shown(folder)}` cannot be written: {shown(reason)}. Choose another "
        "with `--out`."
    )
