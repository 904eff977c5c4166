"""The interface of a journal for a run that is not written to disk."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from metabo.journal.lines import Entry
from metabo.journal.turn import Turn


class Memory:
    """A stand-in for a journal that numbers records without keeping them.

    Examples:
        >>> Memory().append({"value": 1.5}).n
        1
    """

    def __init__(self) -> None:
        self._turn, self._n = Turn(), 0

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Exclude other threads."""
        with self._turn:
            yield

    @contextmanager
    def turn(self) -> Iterator["Memory"]:
        """Exclude other threads, to read and then append without interference."""
        with self._turn:
            yield self

    def refresh(self) -> tuple[Entry, ...]:
        """Return nothing: no one else writes records."""
        return ()

    @property
    def next_n(self) -> int:
        """Number of the next record."""
        return self._n + 1

    def append(self, record: Mapping[str, object]) -> Entry:
        """Assign a number to a record."""
        self._n += 1
        return Entry(self._n, dict(record))
