"""Training events, one per iteration, and the log file that stores them."""

import json
import logging
import os
from dataclasses import dataclass, fields
from pathlib import Path

from metabo.errors import DataError, shown
from metabo.inputs import read_bytes
from metabo.store import save_bytes, write_all

DAMAGED = "log-damaged.jsonl"
"""Name of the copy of a damaged log."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Event:
    """Numbers of one training iteration: a line of `log.jsonl`."""

    iteration: int
    """Number of the iteration, from 1."""
    iterations: int
    """Number of iterations of the whole run."""
    reward: float
    """Mean reward per step of the training batch."""
    regret: float
    """Median final regret of the training batch."""
    entropy: float
    """Mean entropy of the policy over candidates, in nats."""
    value_loss: float
    """Mean squared error of the critic."""
    clipped: float
    """Share of choices whose probability ratio was outside of the clipping range."""
    learning_rate: float
    """Learning rate of the iteration."""
    steps_per_second: float
    """Evaluations per second of rollout and update, without validation."""
    seconds: float
    """Wall-clock time spent so far, in seconds."""
    score: float | None = None
    """Mean reward per step on the validation tasks when always choosing the best candidate."""
    best_score: float | None = None
    """Best validation score so far."""


def read_log(path: Path, *, is_strict: bool = False) -> list[dict[str, float | None]]:
    """Return the lines of a log that describe an iteration, with the names of `Event`.

    Args:
        path: File of the log.
        is_strict: Whether any other line is an error; otherwise such lines are skipped.

    Raises:
        DataError: If the log cannot be read, or `is_strict` and a line is not of a training log.
    """
    whole = []
    for number, line in enumerate(_lines(path), 1):
        record = _record(line)
        if record is not None and _is_whole(record):
            whole.append(record)
        elif is_strict:
            raise DataError(
                f"Line {number} of `{shown(path)}` is not a line of a training log. Remove the "
                f"folder `{shown(path.parent)}` to train again."
            )
    return whole


def forget_after(path: Path, iteration: int, *, is_resumed: bool = False) -> None:
    """Drop the lines of iterations that will be repeated, and an incomplete last line.

    In a resumed run, unreadable lines are dropped too, with a warning and a copy of the file. In a
    new run, such lines mean that the file is not a log of ours, and it is left unchanged.

    Raises:
        DataError: If a new run finds a file that is not a training log.
    """
    lines = _lines(path)
    if not lines:
        return
    kept, strange = [], []
    for number, line in enumerate(lines, 1):
        record = _record(line)
        if record is None or (is_resumed and not _is_whole(record)):
            is_cut = line.startswith('{"iter') and not line.endswith("\n")
            strange += [] if is_cut else [number]
        elif record["iteration"] <= iteration:  # type: ignore[operator]
            kept.append(line.rstrip("\n"))
    if strange and not is_resumed:
        raise DataError(
            f"Line {strange[0]} of `{shown(path)}` is not a line of a training log. Choose "
            "another `--out`."
        )
    files = {path.name: save_bytes("".join(f"{line}\n" for line in kept).encode())}
    if strange:
        _log.warning(
            "Line %d of `%s` cannot be read. Training continues without it, and a copy of the "
            "file is in `%s`.",
            strange[0],
            shown(path),
            DAMAGED,
        )
        files |= {DAMAGED: save_bytes(read_bytes(path, "log"))}
    write_all(path.parent, files)


def _lines(path: Path) -> list[str]:
    if not os.path.exists(path):  # noqa: PTH110 (never raises)
        return []
    # Not `str.splitlines`, which also splits at characters that damage may introduce.
    lines = read_bytes(path, "log").splitlines(keepends=True)
    return [line.decode(errors="replace").replace("\r", "") for line in lines if line.strip()]


def _record(line: str) -> dict[str, float | None] | None:
    """Return the record of an iteration on a line; None if the line is something else."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = {field.name for field in fields(Event)}
    is_ours = isinstance(record, dict) and "iteration" in record and record.keys() <= known
    return record if is_ours and isinstance(record["iteration"], int) else None


def _is_whole(record: dict[str, float | None]) -> bool:
    """Tell whether all values are numbers, and those needed for pictures are present."""
    numbers = {name: v for name, v in record.items() if name not in ("score", "best_score")}
    is_right = all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in numbers.values()
    )
    scores = [record.get(name) for name in ("score", "best_score")]
    is_scored = all(v is None or isinstance(v, int | float) for v in scores)
    return is_right and is_scored and {"iteration", "reward", "score"} <= record.keys()
