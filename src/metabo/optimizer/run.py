"""`Run`: the evaluations of a run, recorded before anything is computed from them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from metabo.errors import MetaBOError, OptionError, brief, shown
from metabo.journal import Entry, Journal, Memory, Writing
from metabo.optimizer.evaluation import Direction, Evaluation, require_value
from metabo.optimizer.header import begun_with, require_same
from metabo.optimizer.history import (
    RunState,
    ask_record,
    encoded,
    is_near,
    replay,
    tell_record,
)
from metabo.optimizer.proposal import Proposal
from metabo.optimizer.settings import RunSettings
from metabo.rules import BUDGET, whole
from metabo.space import Space, Value


class Run:
    """The evaluations of a run, in a journal or in memory; no acquisition function is needed.

    Threads, forks and other processes may work on the same journal: changes are made one at a
    time, each to the latest state.

    Examples:
        >>> import metabo
        >>> space = {"x": metabo.Float(0, 1)}
        >>> metabo.Optimizer(space, budget=9, af="ei", journal="run.jsonl").close()
        >>> run = Run.open("run.jsonl")
        >>> run.tell({"x": 0.5}, 1.25).number
        1
    """

    def __init__(
        self,
        space: Space,
        budget: int,
        journal: Journal | None = None,
        *,
        is_read_only: bool = False,
    ) -> None:
        """Read a run from a journal, or begin one in memory; `Run.open` is simpler.

        Raises:
            DataError: If a line of the journal does not fit the run.
        """
        self._journal: Journal | Memory = Memory() if journal is None else journal
        self._state = RunState(space, budget)
        self._caught_up()
        self._is_read_only = is_read_only

    @classmethod
    def open(cls, path: str | Path, *, is_read_only: bool = False) -> "Run":
        """Open the run in a journal; its acquisition function is not needed.

        Args:
            path: The journal's file.
            is_read_only: Whether to refuse all changes.

        Returns:
            The run with all evaluations of the journal.

        Raises:
            DataError: If the file is missing, damaged or not a journal.
        """
        journal = Journal(Path(path))
        space, budget = begun_with(journal.path, journal.header)
        return cls(space, budget, journal, is_read_only=is_read_only)

    @classmethod
    def resume(
        cls, journal: Journal, space: Space, settings: RunSettings, *, is_read_only: bool = False
    ) -> "Run":
        """Open the run in a journal that was started with this space and these settings.

        Raises:
            OptionError: If the journal was started with different ones.
            DataError: If the journal cannot be read.
        """
        known, budget = begun_with(journal.path, journal.header)
        run = cls(known, budget, journal, is_read_only=is_read_only)
        now = run.state.budget
        require_same(journal.path, journal.header, space, settings, budget=now)
        return run

    @property
    def direction(self) -> Direction:
        """Whether small or large values are better, as recorded in the journal."""
        known = self._journal.header.get("direction") if isinstance(self._journal, Journal) else ""
        return "maximize" if known == "maximize" else "minimize"

    @property
    def can_reserve(self) -> bool:
        """Whether `reserve` works: a journal of format 1 cannot record reserved points."""
        return not (isinstance(self._journal, Journal) and self._journal.version == 1)

    @property
    def state(self) -> RunState:
        """The state after all records that were read so far."""
        return self._state

    def refresh(self) -> RunState:
        """Read the records that others have added, and return the new state."""
        with self._journal.alone():
            self._journal.refresh()
            return self._caught_up()

    def close(self) -> None:
        """Refuse further changes to the journal."""
        self._is_read_only = isinstance(self._journal, Journal)

    def tell(
        self,
        params: Mapping[str, object],
        value: float | None,
        *,
        known: Callable[[dict[str, Value]], tuple[float, ...] | None] = lambda params: None,
    ) -> Evaluation:
        """Record the result of an evaluation.

        Args:
            params: The parameters of the point.
            value: The finite value that the evaluation gave; None if it failed.
            known: Returns the exact point of parameters that were proposed, or None.

        Returns:
            The evaluation with its number.

        Raises:
            MetaBOError: If the parameters or the value do not fit, or the journal cannot be
                written; nothing is recorded then.
        """
        cleaned = self._state.space.clean(params)
        value = None if value is None else require_value(value)
        with self._changing() as turn:
            state = self._state
            index = state.index_pending(cleaned)
            asked = None if index is None else state.pending[index].evaluation.x
            one = Evaluation(cleaned, value, _place(cleaned, asked or known(cleaned), state.space))
            after = state.after_tell(turn.next_n, one)
            told = after.told[-1].evaluation
            turn.append(self._written(tell_record(told)))
            self._state = after
            return told

    def forget(self, number: int) -> Evaluation:
        """Withdraw a result; its record stays in the journal, but no longer counts.

        Args:
            number: The `number` of the evaluation.

        Returns:
            The evaluation that was withdrawn.

        Raises:
            MetaBOError: If there is no such evaluation, or it is already withdrawn.
        """
        with self._changing() as turn:
            told = {line.evaluation.number: line for line in self._state.told}
            whole(1, max([1, *told])).require("number", number, in_shell="N")
            line = told.get(number)
            if line is None or line.n in self._state.forgotten:
                reason = "it has already been forgotten" if line else "it was never told"
                raise MetaBOError(f"There is no evaluation {number} to forget: {reason}.")
            self._append(turn, {"kind": "forget", "of": line.n})
            return line.evaluation

    def extend(self, budget: int) -> None:
        """Give the run a larger budget.

        Args:
            budget: The new number of evaluations in the whole run.

        Raises:
            OptionError: If the budget is not larger than the present one.
        """
        with self._changing() as turn:
            BUDGET.require("budget", budget)
            now = self._state.budget
            if budget <= now:
                raise OptionError(
                    f"The budget is already {now} and can only grow. Pass more than {now}."
                )
            self._append(turn, {"kind": "extend", "budget": budget})

    def reserve(self, propose: Callable[[RunState], Sequence[Proposal]]) -> list[Proposal]:
        """Give out points, and record that they are under way.

        Args:
            propose: Chooses the points. It is called again if other points were given out in the
                meantime, so that nobody gets the same point: twice without blocking the others,
                then while they wait.

        Returns:
            The points that were given out.

        Raises:
            OptionError: If the journal is of format 1, which cannot record them.
        """
        self._require_new_format("It cannot record points under way")
        for _ in range(2):
            state = self.refresh()
            found = propose(state)
            with self._changing() as turn:
                if not self._is_news(found, state.n_read):
                    return self._give_out(turn, found)
        with self._changing() as turn:
            return self._give_out(turn, propose(self._state))

    def release(self, params: Mapping[str, object]) -> None:
        """Give up the point with these parameters, so that it may be proposed again.

        Raises:
            MetaBOError: If the point is not under way.
        """
        cleaned = self._state.space.clean(params)
        with self._changing() as turn:
            index = self._state.index_pending(cleaned)
            if index is None:
                raise MetaBOError(
                    f"Nothing is under way at {brief(cleaned)}, so there is nothing to give up.",
                    shell="That point is not under way. `--again` shows the ones that are.",
                )
            self._append(turn, {"kind": "drop", "of": self._state.pending[index].n})

    @contextmanager
    def _changing(self) -> Iterator[Writing | Memory]:
        """Lock the journal after reading all records that others have added."""
        if self._is_read_only:
            raise MetaBOError(
                "The journal is not open for writing. Open it again to change the run."
            )
        with self._journal.turn() as turn:
            self._caught_up()
            yield turn

    def _caught_up(self) -> RunState:
        """Bring the state up to date with all records that were read.

        The state counts the records it includes, so none is skipped after an interruption.
        """
        if isinstance(self._journal, Journal):
            self._state = replay(self._state, self._journal.entries, self._journal.path)
        return self._state

    def _append(self, turn: Writing | Memory, record: dict[str, object]) -> None:
        self._require_new_format(f"It has no lines of the kind `{record['kind']}`")
        after = self._state.after(Entry(turn.next_n, record))  # refused before it is written
        turn.append(record)
        self._state = after

    def _give_out(self, turn: Writing | Memory, found: Sequence[Proposal]) -> list[Proposal]:
        for one in found:
            x = _place(one.params, one.point, self._state.space)
            self._append(turn, ask_record(Evaluation(one.params, None, x)))
        return list(found)

    def _is_news(self, found: Sequence[Proposal], n_read: int) -> bool:
        """Tell whether points were given out since, or results for these points were told."""
        if not isinstance(self._journal, Journal):
            return False
        since = [entry.record for entry in self._journal.entries[n_read:]]
        told = {json.dumps(one.get("params")) for one in since}
        return any(one.get("kind") == "ask" for one in since) or any(
            json.dumps(one.params) in told for one in found
        )

    def _written(self, record: dict[str, object]) -> dict[str, object]:
        """Return a record in the journal's format: format 1 has neither kinds nor numbers."""
        if self.can_reserve:
            return record
        return {name: value for name, value in record.items() if name not in ("kind", "number")}

    def _require_new_format(self, problem: str) -> None:
        if isinstance(self._journal, Journal) and self._journal.version == 1:
            path = shown(self._journal.path)
            raise OptionError(
                f"`{path}` is a journal of format 1. {problem}: copy it into one of format 2 with "
                f"`metabo show {quote(path)} --repair`."
            )


def _place(
    params: Mapping[str, Value], x: tuple[float, ...] | None, space: Space
) -> tuple[float, ...]:
    """Return the exact point if it belongs to the parameters, else their encoding."""
    plain = encoded(params, space)
    # In a short interval far from 0, the parameters do not determine the point exactly.
    return x if x and is_near(x, plain) else plain
