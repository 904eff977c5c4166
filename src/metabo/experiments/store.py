"""Files of results: written whole or not at all."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from metabo.errors import OutputError


def require_writable(folder: Path) -> None:
    """Make sure, before any computing, that results can be written; the folder is made later."""
    nearest = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise OutputError(
            f"The output folder `{folder}` cannot be written: {error.strerror}. "
            "Choose another with `--out`."
        ) from None


def write_json(path: Path, record: dict[str, object]) -> None:
    """Write a record as strict JSON; NaN and infinity are refused."""
    text = json.dumps(record, allow_nan=False)
    write(path, lambda temporary: temporary.write_text(text))


def write(path: Path, save: Callable[[Path], object]) -> None:
    """Let `save` write beside `path`, then move it there: nobody ever sees half a file."""
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save(temporary)
        temporary.replace(path)
    except OSError as error:
        raise OutputError(
            f"`{path}` cannot be written: {error.strerror}. Choose another folder with `--out`."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
