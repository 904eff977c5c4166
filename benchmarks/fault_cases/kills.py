"""SIGKILL during tell, ask, init, checkpoint and resume: what was acknowledged is there once.

Each kind of work is done by forks of one warm process, which are killed after a few milliseconds.
Every other one writes its bytes in pieces of eight with pauses, so that kills come in the middle.
"""

import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import torch

from fault_cases.workers import Acknowledge, killed, writing_in_pieces
from metabo.errors import MetaBOError
from metabo.optimizer import Optimizer, Run
from metabo.space import Float, Int, Space
from metabo.training import TrainConfig, Trainer
from metabo.training.checkpoint import save_checkpoint

SPACE = Space({"x": Float(0.0, 1.0), "n": Int(1, 1000)})
PER_FILE = 100
"""Kills after which a new journal is begun: reading long ones would take most of the time."""
SHARES = {"tell": 4, "ask": 2, "init": 2, "checkpoint": 1, "resume": 1}
TRAINING = TrainConfig(
    "branin",
    hidden=(8,),
    candidates=("fine",),
    n_global=20,
    iterations=10_000,
    episodes=4,
    budget=3,
    epochs=1,
    minibatches=1,
    validation_tasks=2,
    validate_every=5,
    checkpoint_every=1,
)


def kills(n: int, seed: int) -> Iterator[dict[str, object]]:
    """Kill `n` workers in total; yield a summary for each kind of work."""
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)  # of lines that were never finished, and of older checkpoints
    for kind, share in SHARES.items():
        count = n * share // sum(SHARES.values())
        with tempfile.TemporaryDirectory() as folder:
            yield {"case": f"kill during {kind}", **KINDS[kind](Path(folder), count, Random(seed))}


def _tells(folder: Path, n: int, chance: Random) -> dict[str, object]:
    """Values are numbered, beginning with what the journal already holds."""
    told = lost = doubled = 0
    for first in range(0, n, PER_FILE):
        path, acknowledged = folder / f"{first}.jsonl", list[int]()
        Optimizer(SPACE, af="random", budget=10_000, journal=path).close()

        def tell(acknowledge: Acknowledge, path: Path = path) -> None:
            run = Run.open(path)
            while True:
                number = len(run.state.history)
                run.tell({"x": number / 10_000, "n": number % 1000 + 1}, float(number))
                acknowledge(number)

        acknowledged += _killed(tell, min(PER_FILE, n - first), chance)
        values = [int(one.value or 0) for one in Run.open(path).state.history]
        told += len(acknowledged)
        lost += len(set(acknowledged) - set(values))
        doubled += len(values) - len(set(values))
    return {"kills": n, "acknowledged": told, "failures": lost + doubled}


def _asks(folder: Path, n: int, chance: Random) -> dict[str, object]:
    """Points are given out and told; what was given out is under way or told."""
    given = failures = 0
    for first in range(0, n, PER_FILE):
        path = folder / f"{first}.jsonl"
        Optimizer(SPACE, af="random", budget=10_000, journal=path).close()

        def ask(acknowledge: Acknowledge, path: Path = path) -> None:
            optimizer = Optimizer.open(path)
            while True:
                for params in optimizer.reserve(2):
                    acknowledge(int(params["n"] or 0))
                optimizer.tell(optimizer.pending[0].params, 1.0)

        acknowledged = _killed(ask, min(PER_FILE, n - first), chance)
        state = Run.open(path).state
        points = [*state.history, *(line.evaluation for line in state.pending)]
        kept = [int(one.params["n"] or 0) for one in points]
        given += len(acknowledged)
        failures += sum(max(0, acknowledged.count(v) - kept.count(v)) for v in set(acknowledged))
    return {"kills": n, "acknowledged": given, "failures": failures}


def _inits(folder: Path, n: int, chance: Random) -> dict[str, object]:
    """A journal is there and opens, or is not there at all; acknowledged ones are there."""
    begun = failures = 0
    for number in range(n):
        path = folder / f"{number}.jsonl"
        if number % 3 == 0:
            path.touch()

        def init(acknowledge: Acknowledge, path: Path = path) -> None:
            Optimizer(SPACE, af="random", budget=10, journal=path).close()
            acknowledge(1)

        acknowledged = _killed(init, 1, chance, longest=0.002, in_pieces=number % 2 == 1)
        begun += len(acknowledged)
        try:
            is_there = path.exists() and path.stat().st_size > 0
            if is_there:
                Run.open(path)
            failures += bool(acknowledged) and not is_there
            Optimizer(SPACE, af="random", budget=10, journal=path).tell({"x": 0, "n": 1}, 1.0)
        except MetaBOError:
            failures += 1
    return {"kills": n, "acknowledged": begun, "failures": failures}


def _checkpoints(folder: Path, n: int, chance: Random) -> dict[str, object]:
    """Checkpoints of a run that does nothing else; the last acknowledged one is not lost."""
    trainer = Trainer(TRAINING, folder)
    _save(trainer)
    kept = saved = failures = 0

    def save(acknowledge: Acknowledge) -> None:
        worker = Trainer(TRAINING, folder, resume=True)
        while True:
            worker.progress.iteration += 1
            _save(worker)
            acknowledge(worker.progress.iteration)

    for number in range(n):
        acknowledged = _killed(save, 1, chance, in_pieces=number % 2 == 1)
        kept, saved = max([kept, *acknowledged]), saved + len(acknowledged)
        try:
            there = Trainer(TRAINING, folder, resume=True).progress.iteration
            failures += there < kept
        except MetaBOError:
            failures += 1
    return {"kills": n, "acknowledged": saved, "failures": failures}


def _resumes(folder: Path, n: int, chance: Random) -> dict[str, object]:
    """A training run that is killed again and again ends with the weights of one that is not."""
    done = failures = 0

    def resume(acknowledge: Acknowledge) -> None:
        trainer = Trainer(TRAINING, folder / "run", resume=(folder / "run").exists())
        trainer.run(on_event=lambda event: acknowledge(event.iteration))

    for number in range(n):
        acknowledged = _killed(resume, 1, chance, longest=0.05, in_pieces=number % 2 == 1)
        done = max([done, *acknowledged])
        if not acknowledged:
            continue
        try:
            there = Trainer(TRAINING, folder / "run", resume=True).progress.iteration
            failures += there < done
        except MetaBOError:
            failures += 1
    killed_run = Trainer(TRAINING, folder / "run", resume=True)
    whole = Trainer(TRAINING, folder / "whole")
    while whole.progress.iteration < killed_run.progress.iteration:
        whole._iterate(0.0)
    mine, theirs = (t.networks.state_dict() for t in (killed_run, whole))
    is_same = all(torch.equal(mine[name], theirs[name]) for name in mine)
    return {
        "kills": n,
        "acknowledged": done,
        "failures": failures + (not is_same),
        "bit_identical": is_same,
    }


def _save(trainer: Trainer) -> None:
    parts = (trainer.config, trainer.family, trainer.progress, trainer.networks)
    save_checkpoint(trainer.out, *parts, trainer.optimizer, trainer.best)


def _killed(
    work: Callable[[Acknowledge], None],
    n: int,
    chance: Random,
    *,
    longest: float = 0.01,
    in_pieces: bool | None = None,
) -> list[int]:
    """What `n` workers one after the other acknowledged."""
    acknowledged: list[int] = []
    for number in range(n):
        pieces = number % 2 == 1 if in_pieces is None else in_pieces

        def slowly(acknowledge: Acknowledge) -> None:
            with writing_in_pieces():
                work(acknowledge)

        acknowledged += killed(slowly if pieces else work, chance, longest)
    return acknowledged


KINDS: dict[str, Callable[[Path, int, Random], dict[str, object]]] = {
    "tell": _tells,
    "ask": _asks,
    "init": _inits,
    "checkpoint": _checkpoints,
    "resume": _resumes,
}
