"""A team of networks: each learns by itself, and the mean of their scores is what they made of it.

Where tasks are few, what a network makes of a new one depends much on the luck of its own
training. Errors that members do not share are averaged out.
"""

import json
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from metabo.acquisition import merged
from metabo.errors import DataError, OptionError
from metabo.pretrained import load, save
from metabo.store import save_bytes, save_json, write_all
from metabo.training.card import training_card
from metabo.training.checkpoint import Progress, require_same
from metabo.training.config import TrainConfig
from metabo.training.log import Event
from metabo.training.trainer import Trainer

OnEvent = Callable[[Event], None]


def train_members(
    config: TrainConfig,
    out: Path,
    *,
    resume: bool = False,
    record: bool = True,
    seconds: float | None = None,
    on_event: OnEvent | None = None,
) -> Path:
    """Train one member after the other, each in a folder of its own; give the path of the mean."""
    if seconds is not None and not seconds >= 0:
        raise OptionError(f"`seconds` must not be negative, but got {seconds}.")
    started, n = time.perf_counter(), config.members
    _begin(config, out / "config.json", resume=resume)
    paths, progress, logs = [], [], []
    for number in range(n):
        folder = out / f"member-{number}"
        is_begun = (folder / "config.json").exists()
        trainer = Trainer(
            replace(config, members=1, seed=config.seed * n + number),
            folder,
            resume=is_begun,
            record=record,
        )
        left = None
        if seconds is not None:
            left = max(0.0, seconds - (time.perf_counter() - started)) / (n - number)
        paths.append(trainer.run(seconds=left, on_event=_told(on_event, number, n)))
        progress.append(trainer.progress)
        logs.append((folder / "log.jsonl").read_text().splitlines())
    write_all(out, {"log.jsonl": save_bytes("".join(_means(logs)).encode())})
    af, path = merged([load(str(path)) for path in paths]), out / "af.safetensors"
    save(af, training_card(af, trainer.family, config, _together(progress)), path)
    return path


def _begin(config: TrainConfig, path: Path, *, resume: bool) -> None:
    """Write down what the folder holds, or make sure that it holds this."""
    if resume and path.exists():
        require_same(config, json.loads(path.read_text()), path.parent)
    elif resume:
        raise DataError(f"There is no training run in `{path.parent}` to resume.")
    elif path.exists():
        raise DataError(
            f"`{path.parent}` holds a training run. Give `--resume`, or another `--out`."
        )
    write_all(path.parent, {path.name: save_json(config.record())})


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


def _means(logs: list[list[str]]) -> list[str]:
    """A log whose numbers are the means over the members'."""
    lines = []
    for at in zip(*logs, strict=False):  # some may have stopped before
        events = [json.loads(line) for line in at]
        mean: dict[str, object] = {}
        for name in (field.name for field in fields(Event)):
            values = [event[name] for event in events]
            mean[name] = None if None in values else sum(values) / len(values)
        whole = {name: events[0][name] for name in ("iteration", "iterations")}
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
