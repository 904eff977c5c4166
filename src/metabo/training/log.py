"""What happens in training, an event per iteration, and its log file."""

import json
from dataclasses import dataclass, fields
from pathlib import Path

from metabo.errors import DataError
from metabo.store import save_bytes, write_all


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


def forget_after(path: Path, iteration: int) -> None:
    """Drop the lines of iterations that will be done again, and a last line cut by a kill."""
    if not path.exists():
        return
    lines = path.read_text(errors="replace").splitlines()
    known = {field.name for field in fields(Event)}
    kept = []
    for number, line in enumerate(lines):
        try:
            record = json.loads(line)
            is_ours = isinstance(record, dict) and record.keys() <= known
            if is_ours and record["iteration"] <= iteration:
                kept.append(line)
        except (ValueError, KeyError):
            is_ours = number == len(lines) - 1 and line.startswith('{"iter')
        if not is_ours:
            raise DataError(
                f"Line {number + 1} of `{path}` is not of a training log. Remove the file, or use "
                "another `--out`."
            )
    content = "".join(f"{line}\n" for line in kept).encode()
    write_all(path.parent, {path.name: save_bytes(content)})
