"""What happens in training, an event per iteration, and its log file."""

import json
import logging
import os
from dataclasses import dataclass, fields
from pathlib import Path

from metabo.errors import DataError, shown
from metabo.inputs import read_bytes
from metabo.store import save_bytes, write_all

DAMAGED = "log-damaged.jsonl"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Event:
    """What happened in one iteration: a line of `log.jsonl`."""

    iteration: int
    iterations: int
    reward: float
    """Mean reward per step of the training batch."""
    regret: float
    """Median final regret of the training batch."""
    entropy: float
    value_loss: float
    clipped: float
    learning_rate: float
    steps_per_second: float
    """Of rollout and update, without validation."""
    seconds: float
    """Wall-clock time spent so far."""
    score: float | None = None
    """Mean reward per step on the validation tasks, the best candidate taken."""
    best_score: float | None = None


def read_log(path: Path, *, is_strict: bool = False) -> list[dict[str, float | None]]:
    """The lines of a log that describe an iteration, by the names of `Event`.

    Others are left out; if the reading is strict, they are an error.
    """
    whole = []
    for number, line in enumerate(_lines(path), 1):
        record = _record(line)
        if record is not None and _is_whole(record):
            whole.append(record)
        elif is_strict:
            raise DataError(
                f"Line {number} of `{shown(path)}` is not of a training log. Remove the folder "
                f"`{shown(path.parent)}`, and it is trained again."
            )
    return whole


def forget_after(path: Path, iteration: int, *, is_resumed: bool = False) -> None:
    """Drop the lines of iterations that will be done again, and a last line cut by a kill.

    Of a run that goes on, lines that cannot be read are dropped too, with a warning and a copy of
    the file; where none goes on, they are not ours and the file is left alone.
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
            f"Line {strange[0]} of `{shown(path)}` is not of a training log. Choose "
            "another `--out`."
        )
    files = {path.name: save_bytes("".join(f"{line}\n" for line in kept).encode())}
    if strange:
        _log.warning(
            "Line %d of `%s` cannot be read: training goes on without it, and a copy of the file "
            "is in `%s`.",
            strange[0],
            shown(path),
            DAMAGED,
        )
        files |= {DAMAGED: save_bytes(read_bytes(path, "log"))}
    write_all(path.parent, files)


def _lines(path: Path) -> list[str]:
    if not os.path.exists(path):  # noqa: PTH110 (never raises)
        return []
    # Not `str.splitlines`, which also parts at characters that damage may bring.
    lines = read_bytes(path, "log").splitlines(keepends=True)
    return [line.decode(errors="replace").replace("\r", "") for line in lines if line.strip()]


def _record(line: str) -> dict[str, float | None] | None:
    """What a line says of an iteration; None if it says something else."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = {field.name for field in fields(Event)}
    is_ours = isinstance(record, dict) and "iteration" in record and record.keys() <= known
    return record if is_ours and isinstance(record["iteration"], int) else None


def _is_whole(record: dict[str, float | None]) -> bool:
    """Whether all values are numbers, and those that pictures are drawn from are there."""
    numbers = {name: v for name, v in record.items() if name not in ("score", "best_score")}
    is_right = all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in numbers.values()
    )
    scores = [record.get(name) for name in ("score", "best_score")]
    is_scored = all(v is None or isinstance(v, int | float) for v in scores)
    return is_right and is_scored and {"iteration", "reward", "score"} <= record.keys()
