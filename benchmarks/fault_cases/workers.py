"""Forked workers that acknowledge what they have done, to be killed at any moment."""

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from random import Random

Acknowledge = Callable[[int], None]
WIDTH = 8


def killed(work: Callable[[Acknowledge], None], chance: Random, longest: float) -> list[int]:
    """Let a fork work, kill it outright after a random time, and give what it acknowledged.

    Args:
        work: Calls its argument with a number after each thing that it relies on; it may end.
        chance: Decides when.
        longest: Seconds after which it is killed at the latest. In nine cases of ten the clock
            starts with the first acknowledgement.
    """
    incoming, outgoing = os.pipe()
    child = forked(lambda: work(lambda n: _write(outgoing, n)), incoming)
    os.close(outgoing)
    data = b""
    if chance.random() < 0.9:
        data = os.read(incoming, WIDTH)
    time.sleep(chance.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while part := os.read(incoming, 2**16):
        data += part
    os.close(incoming)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError("A worker ended with an error, which is printed above.")
    return [int.from_bytes(data[i : i + WIDTH], "little") for i in range(0, len(data), WIDTH)]


def forked(work: Callable[[], object], *inherited: int) -> int:
    """A child process that does this and ends; its exit code is 1 after an exception."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        for file in inherited:
            os.close(file)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def ended(children: list[int]) -> int:
    """Wait for children; give how many ended with an error."""
    return sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)


@contextlib.contextmanager
def writing_in_pieces() -> Iterator[None]:
    """Let every write take a while, so that kills do come in the middle of it."""
    write = os.write

    def piece(file: int, data: bytes, /) -> int:
        time.sleep(1e-4)
        return write(file, data[:8])

    os.write = piece  # type: ignore[assignment]
    try:
        yield
    finally:
        os.write = write


def _write(file: int, number: int) -> None:
    # Not `os.write`, which may be writing in pieces: an acknowledgement is all or nothing.
    _WHOLE(file, number.to_bytes(WIDTH, "little"))


_WHOLE = os.write
