"""Bytes at a place of an open file, on every system."""

import os

FLAGS = (
    getattr(os, "O_BINARY", 0)  # Windows would translate ends of lines
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO in the file's place must not keep anyone waiting
)
"""How journals are opened."""


def write_at(file: int, data: bytes, at: int) -> None:
    """Write all of the bytes, in parts if need be."""
    while data:
        os.lseek(file, at, os.SEEK_SET)
        written = os.write(file, data)
        at, data = at + written, data[written:]


def read_at(file: int, at: int, size: int | None = None) -> bytes:
    """So many bytes of a file, or all to its end."""
    os.lseek(file, at, os.SEEK_SET)
    parts: list[bytes] = []
    while size is None or size > 0:
        part = os.read(file, 2**20 if size is None else size)
        if not part:
            break
        parts.append(part)
        size = None if size is None else size - len(part)
    return b"".join(parts)
