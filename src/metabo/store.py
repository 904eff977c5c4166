"""Atomic, durable writing of files: all or nothing, and on the disk when the call returns."""

import json
import os
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from metabo.errors import OutputError, shown

JOURNAL = b'{"metabo_journal": '
"""First bytes of every journal."""


def require_writable(folder: Path, names: Sequence[str]) -> None:
    """Check, before any computation, that these files can be written; create nothing.

    Raises:
        OutputError: If they cannot be written.
    """
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)):
            pass
        for name in names:
            if (folder / name).is_dir():
                raise IsADirectoryError(21, f"`{name}` in it is a folder")
    except (OSError, ValueError) as error:
        raise _refused(folder, error) from None


def is_writable(folder: Path) -> bool:
    """Tell whether files can be written to a folder, which need not exist yet."""
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
    """Write files to temporary names, then rename all of them.

    Readers see the old or the new files, never an incomplete one; if one file cannot be written,
    none is. When this returns, the files are on the disk.

    Args:
        folder: Folder of the files, created if it does not exist.
        files: Functions that write each file to a given path, by file name.
        keeping: New names for files that would be replaced; missing files are skipped.

    Raises:
        OutputError: If a file cannot be written, or would replace a journal.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_all(Path(folder), {"a.json": save_json({"x": 1})})
        ...     (Path(folder) / "a.json").read_text()
        '{"x": 1}'
    """
    for name in files:
        _require_no_journal(folder / name)
    # Random names keep processes and threads that write the same file apart.
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
    for parent in folder.absolute().parents:  # directory entries of the folders just created
        if not parent.is_relative_to(nearest):
            break
        sync_folder(parent)


def _require_no_journal(path: Path) -> None:
    """Raise `OutputError` if the file is a journal, whose results must not be lost."""
    start = b""
    with suppress(OSError, ValueError):
        if path.is_file():
            with path.open("rb") as file:
                start = file.read(len(JOURNAL))
    if start == JOURNAL:
        raise OutputError(
            f"`{shown(path)}` is the journal of a run and must not be replaced. Choose another "
            "name or folder."
        )


def sync_folder(folder: Path) -> None:
    """Make the directory entries of a folder durable; Windows, which cannot, skips this."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def save_bytes(content: bytes) -> Callable[[Path], object]:
    """Return a function that writes these bytes to a path."""
    return lambda path: path.write_bytes(content)


def save_json(record: Mapping[str, object] | Sequence[object]) -> Callable[[Path], object]:
    """Return a function that writes the record as strict JSON, without NaN or infinity.

    Raises:
        ValueError: If the record contains NaN or infinity.
    """
    text = json.dumps(record, allow_nan=False)
    return lambda path: path.write_text(text)


def _nearest(folder: Path) -> Path:
    """Return the folder itself, or its nearest ancestor that exists."""
    return next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())


def _sync_file(path: Path) -> None:
    with path.open("rb+") as file:  # Windows only syncs files that are open for writing
        os.fsync(file.fileno())


def _refused(folder: Path, error: Exception) -> OutputError:
    reason = error.strerror or error if isinstance(error, OSError) else error
    return OutputError(
        f"The output folder `{shown(folder)}` cannot be written: {shown(reason)}. Choose another "
        "with `--out`."
    )
