"""A run that is being recorded: what is told is kept before anything is made of it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from metabo.errors import MetaBOError, OptionError
from metabo.journal import Entry, Journal, Memory, Writing
from metabo.optimizer.evaluation import Direction, Evaluation
from metabo.optimizer.header import begun_with
from metabo.optimizer.record import (
    MAX_BUDGET,
    RunState,
    ask_record,
    encoded,
    is_near,
    replay,
    tell_record,
)
from metabo.options import require_whole
from metabo.space import Space, Value

Point = tuple[dict[str, Value], tuple[float, ...]]
"""Parameters, and their point of the unit cube."""


class Run:
    """The state of a run, in a journal or in memory alone.

    Threads, forks and other processes may work on the same journal: each change is made to the
    latest state, one at a time. It needs neither an acquisition function nor a model.
    """

    def __init__(
        self,
        space: Space,
        budget: int,
        journal: Journal | None = None,
        *,
        is_read_only: bool = False,
    ) -> None:
        """Take up what the journal holds."""
        self._journal: Journal | Memory = Memory() if journal is None else journal
        self._state = RunState(space, budget)
        if isinstance(self._journal, Journal):
            self._state = replay(self._state, self._journal.entries, self._journal.path)
        self._is_read_only = is_read_only

    @classmethod
    def open(cls, path: Path, *, is_read_only: bool = False) -> "Run":
        """The run in a journal, whatever proposed its points."""
        journal = Journal(path)
        space, budget = begun_with(path, journal.header)
        return cls(space, budget, journal, is_read_only=is_read_only)

    @property
    def direction(self) -> Direction:
        """Whether small or large values are better, as the journal says."""
        known = self._journal.header.get("direction") if isinstance(self._journal, Journal) else ""
        return "maximize" if known == "maximize" else "minimize"

    @property
    def state(self) -> RunState:
        """The run as far as it was read."""
        return self._state

    def refresh(self) -> RunState:
        """Read what others have added since."""
        with self._journal.alone():
            self._state = self._after(self._journal.refresh())
            return self._state

    def close(self) -> None:
        """Add nothing any more."""
        self._is_read_only = True

    def tell(
        self,
        params: Mapping[str, object],
        value: float | None,
        *,
        known: Callable[[dict[str, Value]], tuple[float, ...] | None] = lambda params: None,
    ) -> Evaluation:
        """Keep an evaluation, None being the value of one that failed.

        Args:
            params: Where.
            value: What came out.
            known: Gives the exact point of parameters that were proposed, where it is known.
        """
        cleaned = self._state.space.clean(params)

        def record(state: RunState) -> dict[str, object]:
            index = state.index_pending(cleaned)
            asked = None if index is None else state.pending[index].evaluation.x
            x, plain = asked or known(cleaned), encoded(cleaned, state.space)
            # In a short interval far from 0 parameters cannot say where exactly they lie.
            return tell_record(cleaned, value, x if x and is_near(x, plain) else plain)

        return self._add(record).told[-1].evaluation

    def forget(self, number: int) -> Evaluation:
        """Take back what was told under a number; its record stays, followed by this one."""
        taken: list[Evaluation] = []

        def record(state: RunState) -> dict[str, object]:
            require_whole("number", number, 1, max(1, len(state.told)), in_shell="N")
            line = state.told[number - 1] if state.told else None
            if line is None or line.n in state.forgotten:
                reason = "nothing was told yet" if line is None else "it was forgotten before"
                raise MetaBOError(f"There is no evaluation {number} to forget: {reason}.")
            taken.append(line.evaluation)
            return {"kind": "forget", "of": line.n}

        self._add(record)
        return taken[-1]

    def extend(self, budget: int) -> None:
        """Let the run go on to a larger number of evaluations in all."""

        def record(state: RunState) -> dict[str, object]:
            require_whole("budget", budget, 1, MAX_BUDGET)
            if budget <= state.budget:
                raise OptionError(
                    f"The budget is {state.budget} already, and can only grow. Give more than "
                    f"{state.budget}."
                )
            return {"kind": "extend", "budget": budget}

        self._add(record)

    def reserve(self, propose: Callable[[RunState], Sequence[Point]]) -> list[Point]:
        """Give out points and remember that they are under way.

        Args:
            propose: Chooses the points; called again if others were given out meanwhile, so that
                no two get the same.
        """
        state = self.refresh()
        found = list(propose(state))
        self._require_writable()
        with self._journal.turn() as turn:
            self._state = self._after(turn.others)
            if self._state.pending != state.pending:
                found = list(propose(self._state))
            for params, x in found:
                plain = encoded(params, self._state.space)
                self._append(turn, ask_record(params, x if is_near(x, plain) else plain))
        return found

    def release(self, params: Mapping[str, object]) -> None:
        """Give up a point that is under way."""
        cleaned = self._state.space.clean(params)

        def record(state: RunState) -> dict[str, object]:
            index = state.index_pending(cleaned)
            if index is None:
                raise MetaBOError(
                    f"Nothing is under way at {cleaned}, so there is nothing to give up.",
                    shell="That point is not under way. `--again` shows the ones that are.",
                )
            return {"kind": "drop", "of": state.pending[index].n}

        self._add(record)

    def _add(self, record: Callable[[RunState], dict[str, object]]) -> RunState:
        """Add the record that is made from the latest state; give the state after it."""
        self._require_writable()
        with self._journal.turn() as turn:
            self._state = self._after(turn.others)
            self._append(turn, record(self._state))
            return self._state

    def _append(self, turn: Writing | Memory, record: dict[str, object]) -> None:
        after = self._state.after(Entry(turn.next_n, record))  # refused before it is written
        turn.append(record)
        self._state = after

    def _after(self, entries: tuple[Entry, ...]) -> RunState:
        if not entries:
            return self._state
        assert isinstance(self._journal, Journal)
        return replay(self._state, entries, self._journal.path)

    def _require_writable(self) -> None:
        if self._is_read_only:
            raise MetaBOError("The journal is not open for writing. Open it again to tell.")
