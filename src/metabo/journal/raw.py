"""Reading and writing bytes at a position of an open file, on every system."""

import os


def write_at(file: int, data: bytes, at: int) -> None:
    """Write all bytes at a position, in several parts if necessary."""
    while data:
        os.lseek(file, at, os.SEEK_SET)
        written = os.write(file, data)
        at, data = at + written, data[written:]


def read_at(file: int, at: int, size: int | None = None) -> bytes:
    """Read `size` bytes at a position of a file, or everything to its end if None."""
    os.lseek(file, at, os.SEEK_SET)
    parts: list[bytes] = []
    while size is None or size > 0:
        part = os.read(file, 2**20 if size is None else size)
        if not part:
            break
        parts.append(part)
        size = None if size is None else size - len(part)
    return b"".join(parts)
