"""Repair of a damaged journal: its intact part is copied into a new one."""

from dataclasses import dataclass
from pathlib import Path

from metabo.errors import MetaBOError, OutputError, shown
from metabo.inputs import kind_of, read_bytes
from metabo.journal import Journal, salvage
from metabo.optimizer.header import begun_with
from metabo.optimizer.history import RunState, ask_record, tell_record


@dataclass(frozen=True)
class Repair:
    """The outcome of a repair: what was copied, and what was not."""

    run: RunState
    """The run in the new journal."""
    left_out: tuple[tuple[int, str], ...]
    """Number and text of each line of the old file that was not copied."""
    missing: int
    """Number of lines that could not be recovered, including those left out."""


def repair(path: str | Path, new: str | Path) -> Repair:
    """Copy the intact part of a damaged journal into a new one; the old file is only read.

    All evaluations keep their numbers, including forgotten ones. Points that were given up are
    not copied.

    Args:
        path: The damaged journal.
        new: The path of the copy, which must not exist.

    Returns:
        The run in the new journal, and the lines that were left out.

    Raises:
        DataError: If the file is not a journal, or its first line is damaged.
        OutputError: If the new path already exists or cannot be written.

    Examples:
        >>> import metabo
        >>> space = {"x": metabo.Float(0, 1)}
        >>> with metabo.Optimizer(space, budget=9, af="ei", journal="run.jsonl") as optimizer:
        ...     optimizer.tell({"x": 0.5}, 1.25)
        >>> done = repair("run.jsonl", "copy.jsonl")
        >>> len(done.run.history), done.left_out
        (1, ())
    """
    path, new = Path(path), Path(new)
    saved = salvage(path, read_bytes(path, "journal"))
    space, budget = begun_with(path, saved.content.header)
    state, left_out = RunState(space, budget), list(saved.left_out)
    for entry in saved.content.entries:
        try:
            state = state.after(entry)
        except MetaBOError as error:  # the line is intact, but refers to one that is lost
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
