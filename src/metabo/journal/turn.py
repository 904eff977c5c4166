"""A lock for objects that are used in threads, forked and copied.

If a thread holds a lock while another one forks, the lock would stay locked in the child forever,
because the thread that could release it does not exist there. This lock is free in every child and
in every copy.
"""

import os
import threading
import weakref
from types import TracebackType

_ALL: "weakref.WeakSet[Turn]" = weakref.WeakSet()


class Turn:
    """A re-entrant lock, used as `with turn: ...`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _ALL.add(self)

    def acquire(self, seconds: float = -1.0) -> bool:
        """Acquire the lock, waiting at most `seconds` (forever if negative).

        Returns:
            Whether the lock was acquired.
        """
        return self._lock.acquire(timeout=seconds)

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()

    def __enter__(self) -> "Turn":
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def __reduce__(self) -> tuple[type["Turn"], tuple[()]]:
        return Turn, ()

    def _renew(self) -> None:
        self._lock = threading.RLock()


def _renew_all() -> None:
    for turn in list(_ALL):
        turn._renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_renew_all)
