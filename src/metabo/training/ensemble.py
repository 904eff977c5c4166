"""A team of networks: each learns by itself, and the mean of their scores is what they made of it.

Where tasks are few, what a network makes of a new one depends much on the luck of its own
training. Errors that members do not share are averaged out.
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from metabo.acquisition import merged
from metabo.errors import DataError, OptionError, shown
from metabo.inputs import read_json
from metabo.pretrained import load, save
from metabo.store import save_bytes, save_json, write_all
from metabo.tasks import TaskFamily
from metabo.tasks import family as family_of
from metabo.training.card import training_card
from metabo.training.checkpoint import Progress
from metabo.training.config import TrainConfig
from metabo.training.folder import CONFIG, already_there, has_run, require_same
from metabo.training.interrupt import TrainingInterrupted
from metabo.training.log import Event, read_log
from metabo.training.trainer import Trainer

OnEvent = Callable[[Event], None]
_log = logging.getLogger(__name__)


def train_members(
    config: TrainConfig,
    out: Path,
    *,
    family: TaskFamily | None = None,
    resume: bool = False,
    record: bool = True,
    seconds: float | None = None,
    on_event: OnEvent | None = None,
) -> Path:
    """Train one member after the other, each in a folder of its own; give the path of the mean."""
    if seconds is not None and not seconds >= 0:
        raise OptionError(f"`seconds` must not be negative, but got {seconds}.")
    started, n = time.perf_counter(), config.members
    _begin(config, out / CONFIG, resume=resume)
    family = family_of(config.family) if family is None else family
    paths, progress, logs = [], [], []
    for number in range(n):
        folder = out / f"member-{number}"
        trainer = Trainer(
            replace(config, members=1, seed=config.seed * n + number),
            folder,
            family=family,
            resume=has_run(folder),
            record=record,
        )
        left = None
        if seconds is not None:
            left = max(0.0, seconds - (time.perf_counter() - started)) / (n - number)
        try:
            paths.append(trainer.run(seconds=left, on_event=_told(on_event, number, n)))
        except TrainingInterrupted as interrupt:
            end = interrupt.iterations
            raise TrainingInterrupted(out, number * end + interrupt.iteration, n * end) from None
        progress.append(trainer.progress)
        logs.append(read_log(folder / "log.jsonl"))
    write_all(out, {"log.jsonl": save_bytes("".join(_means(logs)).encode())})
    af, path = merged([load(str(path)) for path in paths]), out / "af.safetensors"
    save(af, training_card(af, trainer.family, config, _together(progress)), path)
    return path


def _begin(config: TrainConfig, path: Path, *, resume: bool) -> None:
    """Write down what the folder holds, or make sure that it holds this."""
    folder = path.parent
    if has_run(folder) and not resume:
        raise already_there(folder)
    if not has_run(folder) and resume:
        raise DataError(f"There is no training run in `{shown(folder)}` to resume.")
    stored = _stored(path) if resume else None
    if stored is not None:
        require_same(config, stored, folder)
    write_all(path.parent, {path.name: save_json(config.record())})


def _stored(path: Path) -> dict[str, object] | None:
    """The configuration of a team; None if it cannot be read, where each member has its own."""
    try:
        stored = read_json(path, "configuration")
        if isinstance(stored, dict):
            return stored
        problem = f"The configuration `{shown(path)}` must be an object."
    except DataError as error:
        problem = str(error)
    if not (path.parent / "member-0").is_dir():
        raise DataError(f"{problem} Remove the file to start over, or choose another `--out`.")
    _log.warning("%s It is written again, and training goes on.", problem)
    return None


def _told(on_event: OnEvent | None, number: int, n: int) -> OnEvent | None:
    """Tell of a member's iterations as a part of all."""
    if on_event is None:
        return None
    return lambda event: on_event(
        replace(
            event,
            iteration=number * event.iterations + event.iteration,
            iterations=n * event.iterations,
        )
    )


def _means(logs: list[list[dict[str, float | None]]]) -> list[str]:
    """A log whose numbers are the means over the members'."""
    lines = []
    by_iteration = [{event["iteration"]: event for event in log} for log in logs]
    # Some may have stopped before, or have lost lines.
    for number in (n for n in by_iteration[0] if all(n in log for log in by_iteration)):
        events = [log[number] for log in by_iteration]
        mean: dict[str, object] = {}
        for name in (field.name for field in fields(Event)):
            values = [event.get(name) for event in events]
            known = [value for value in values if value is not None]
            mean[name] = sum(known) / len(known) if len(known) == len(values) else None
        whole = {name: events[0].get(name) for name in ("iteration", "iterations")}
        lines.append(json.dumps(mean | whole) + "\n")
    return lines


def _together(progress: list[Progress]) -> Progress:
    """How far all have come: time in sum, the rest on average."""
    scores = [p.best_score for p in progress if p.best_score is not None]
    return Progress(
        iteration=round(sum(p.iteration for p in progress) / len(progress)),
        seconds=sum(p.seconds for p in progress),
        best_score=sum(scores) / len(scores) if scores else None,
        best_iteration=round(sum(p.best_iteration for p in progress) / len(progress)),
    )
