"""A damaged journal's intact part, as a new journal."""

from dataclasses import dataclass
from pathlib import Path

from metabo.errors import MetaBOError, OutputError, shown
from metabo.inputs import kind_of, read_bytes
from metabo.journal import Journal, salvage
from metabo.optimizer.header import begun_with
from metabo.optimizer.history import RunState, ask_record, tell_record


@dataclass(frozen=True)
class Repair:
    """What was copied, and what was not."""

    run: RunState
    """The run in the new journal."""
    left_out: tuple[tuple[int, str], ...]
    """Lines of the old file that were not copied: their numbers and their texts."""
    missing: int
    """Lines that were written once and are nowhere intact, those left out included."""


def repair(path: str | Path, new: str | Path) -> Repair:
    """Copy what is intact in a journal into a new one; the old file is only read.

    Evaluations keep their numbers, those that were forgotten too; a point under way that was given
    up is not copied.

    Raises:
        DataError: If the file is not a journal, or its first line is damaged.
        OutputError: If there is something at the new path already.
    """
    path, new = Path(path), Path(new)
    saved = salvage(path, read_bytes(path, "journal"))
    space, budget = begun_with(path, saved.content.header)
    state, left_out = RunState(space, budget), list(saved.left_out)
    for entry in saved.content.entries:
        try:
            state = state.after(entry)
        except MetaBOError as error:  # its own line is intact, but one it is about is gone
            left_out.append((entry.n + 1, f"{entry.record} ({error})"))
    if kind_of(new, "journal") != "missing":
        raise OutputError(f"`{shown(new)}` already exists. Choose another name for the copy.")
    journal = Journal.begin(new, saved.content.header)
    with journal.turn() as turn:
        for line in state.told:
            entry = turn.append(tell_record(line.evaluation))
            if line.n in state.forgotten:
                turn.append({"kind": "forget", "of": entry.n})
        for line in state.pending:
            turn.append(ask_record(line.evaluation))
        if state.budget != budget:
            turn.append({"kind": "extend", "budget": state.budget})
    return Repair(state, tuple(sorted(left_out)), len(saved.missing))
