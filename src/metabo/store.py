"""Files of results: written whole or not at all."""

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from metabo.errors import OutputError


def require_writable(folder: Path, names: Sequence[str]) -> None:
    """Make sure, before any computing, that these files can be written; nothing is made yet."""
    try:
        nearest = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
        with tempfile.TemporaryFile(dir=nearest):
            pass
        for name in names:
            if (folder / name).is_dir():
                raise IsADirectoryError(21, f"`{name}` is a folder there")
    except OSError as error:
        raise _refused(folder, error) from None


def is_writable(folder: Path) -> bool:
    """Whether files can be written there."""
    try:
        require_writable(folder, ())
    except OutputError:
        return False
    return True


def write_all(folder: Path, files: Mapping[str, Callable[[Path], object]]) -> None:
    """Let each function write a temporary file, then move all to their names.

    Whoever looks sees the old files or the new ones, never half a file; if one cannot be written,
    none is.
    """
    temporary = {name: folder / f".{os.getpid()}.{name}" for name in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, save in files.items():
            save(temporary[name])
        for name in files:
            temporary[name].replace(folder / name)
    except OSError as error:
        raise _refused(folder, error) from None
    finally:
        for path in temporary.values():
            with suppress(OSError):
                path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make new names in a folder durable, where folders can be opened at all."""
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


def _refused(folder: Path, error: OSError) -> OutputError:
    return OutputError(
        f"The output folder `{folder}` cannot be written: {error.strerror or error}. "
        "Choose another with `--out`."
    )
