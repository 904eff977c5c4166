"""Ensembles: several networks are trained independently, and the artifact is their mean score.

If there are few training tasks, a network's performance on a new task depends strongly on its
random seed. Averaging cancels the errors that members do not share.
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from metabo.acquisition import merged
from metabo.errors import DataError, shown
from metabo.inputs import read_json
from metabo.pretrained import load, save
from metabo.store import save_bytes, save_json, write_all
from metabo.tasks import TaskFamily
from metabo.tasks import family as family_of
from metabo.training.benefit import if_better
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
    """Train the members of an ensemble one after another, each in its own folder.

    Args:
        config: Settings of the training; `config.members` is the number of members.
        out: Folder of the run.
        family: The family that `config` names, if it has been built already.
        resume: Whether to continue the run in `out`.
        record: Whether to record CUDA graphs.
        seconds: Wall-clock limit for all members together; None for no limit.
        on_event: Called after each iteration.

    Returns:
        The path of the artifact, whose score is the mean over the members.

    Raises:
        DataError: If there is nothing to resume, or the folder already contains another run.
        TrainingInterrupted: After Ctrl-C, once the iteration has been finished and saved.
    """
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
            is_member=True,
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
    path, prior = out / "af.safetensors", trainer.prior.to("cpu")
    whole = merged([load(str(path)) for path in paths])
    af, score = if_better(whole, prior, trainer.family, config)
    card = training_card(af, prior, trainer.family, config, _together(progress), score)
    save(af, card, path, prior.learned)
    return path


def _begin(config: TrainConfig, path: Path, *, resume: bool) -> None:
    """Store the configuration in the folder, or check that the stored one is the same."""
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
    """Return an ensemble's stored configuration; None if it is damaged but the members have it."""
    try:
        stored = read_json(path, "configuration")
        if isinstance(stored, dict):
            return stored
        problem = f"The configuration `{shown(path)}` must be an object."
    except DataError as error:
        problem = str(error)
    if not (path.parent / "member-0").is_dir():
        raise DataError(f"{problem} Remove the file to start over, or choose another `--out`.")
    _log.warning("%s It is rewritten, and training continues.", problem)
    return None


def _told(on_event: OnEvent | None, number: int, n: int) -> OnEvent | None:
    """Wrap `on_event` to report a member's iterations as a part of all members'."""
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
    """Return the lines of a log whose numbers are the means over the members."""
    lines = []
    by_iteration = [{event["iteration"]: event for event in log} for log in logs]
    # Some members may have stopped early, or have lost lines.
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
    """Combine the progress of all members: the sum of their times, the mean of the rest."""
    scores = [p.best_score for p in progress if p.best_score is not None]
    return Progress(
        iteration=round(sum(p.iteration for p in progress) / len(progress)),
        seconds=sum(p.seconds for p in progress),
        best_score=sum(scores) / len(scores) if scores else None,
        best_iteration=round(sum(p.best_iteration for p in progress) / len(progress)),
    )
