"""The verbs of a journal for a run that is kept nowhere."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from metabo.journal.lines import Entry
from metabo.journal.turn import Turn


class Memory:
    """Numbers records and forgets them: whoever needs them again keeps them."""

    def __init__(self) -> None:
        self._turn, self._n = Turn(), 0

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out."""
        with self._turn:
            yield

    @contextmanager
    def turn(self) -> Iterator["Memory"]:
        """Keep other threads from adding, to look and then to add."""
        with self._turn:
            yield self

    def refresh(self) -> tuple[Entry, ...]:
        """Nothing is ever new."""
        return ()

    @property
    def next_n(self) -> int:
        """The number that the next record will have."""
        return self._n + 1

    def append(self, record: Mapping[str, object]) -> Entry:
        """Number a record."""
        self._n += 1
        return Entry(self._n, dict(record))
