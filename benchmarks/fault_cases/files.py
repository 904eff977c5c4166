"""One fault in a journal, an artifact, its card, a checkpoint or a table: refused, or harmless.

A faulty file must end in one `MetaBOError` sentence or in exactly the values that were written, in
less than `SECONDS`. A table of the user's own has no checksum: a changed cell is a value like any
other, so there only tracebacks and waiting count as failures.
"""

import json
import logging
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch

from fault_cases.damage import damaged
from fault_cases.kills import TRAINING
from metabo.errors import MetaBOError
from metabo.optimizer import Optimizer, Run
from metabo.pretrained import artifacts, load
from metabo.space import Choice, Float, Int, Space
from metabo.tasks.tabular import read_table
from metabo.training import Trainer

SECONDS = 5.0
SPACE = Space({"x": Float(0.0, 1.0), "n": Int(1, 9), "kind": Choice(("a", "b"))})
SHARES = {"journal": 4, "artifact": 2, "card": 1, "checkpoint": 1, "table": 1, "table.json": 1}


@dataclass(frozen=True)
class Subject:
    """A good file, and what can be read from it."""

    path: Path
    read: Callable[[], object]
    """Gives what the file means, to be compared; None where a change cannot be known."""
    region: tuple[int, int] | None = None
    """The bytes that get the faults; all if None."""
    or_else: object = None
    """What may be read instead, such as the checkpoint before."""


def files(n: int, seed: int) -> Iterator[dict[str, object]]:
    """Read files with `n` single faults in total; yield a summary for each kind of file."""
    logging.disable(logging.WARNING)
    for kind, share in SHARES.items():
        count = n * share // sum(SHARES.values())
        with tempfile.TemporaryDirectory() as folder:
            outcomes = _outcomes(SUBJECTS[kind](Path(folder)), count, seed)
            yield {"case": f"faults in a {kind}", **outcomes}


def _outcomes(subject: Subject, n: int, seed: int) -> dict[str, object]:
    good, meaning = subject.path.read_bytes(), subject.read()
    start, end = subject.region or (0, len(good))
    seen, slowest, examples = Counter[str](), 0.0, list[str]()
    for kind, part in damaged(good[start:end], n, Random(seed)):
        subject.path.write_bytes(good[:start] + part + good[end:])
        began = time.perf_counter()
        try:
            found = subject.read()
            outcome = "harmless" if found == meaning else "wrong value"
            if found != meaning and found == subject.or_else:
                outcome = "fell back"
        except MetaBOError as error:
            outcome = "refused" if "\n" not in str(error) and len(str(error)) < 1500 else "long"
        except Exception:
            outcome = "traceback"
            examples.append(f"{kind}: {traceback.format_exc(limit=-2)}")
        took = time.perf_counter() - began
        slowest = max(slowest, took)
        seen["slow" if took > SECONDS else outcome] += 1
        if outcome == "wrong value" and len(examples) < 3:
            examples.append(f"{kind}: wrong value")
    subject.path.write_bytes(good)
    failures = n - seen["harmless"] - seen["refused"] - seen["fell back"]
    return {"faults": n, **seen, "slowest_s": round(slowest, 3), "failures": failures} | (
        {"examples": examples[:3]} if examples else {}
    )


def _journal(folder: Path) -> Subject:
    path = folder / "run.jsonl"
    optimizer = Optimizer(SPACE, af="random", budget=40, journal=path)
    for number in range(12):
        (params,) = optimizer.reserve()
        optimizer.tell(params, number / 7)
    optimizer.forget(3)
    optimizer.extend(50)
    optimizer.reserve(2)

    def read() -> object:
        state = Run.open(path).state
        return state.history, state.pending, state.budget, Optimizer.open(path).settings

    return Subject(path, read)


def _artifact(folder: Path) -> Subject:
    path = folder / "af.safetensors"
    path.write_bytes(artifacts()["svm"].read_bytes())

    def read() -> object:
        af = load(path)
        weights = {name: value.tolist() for name, value in af.state_dict().items()}
        return weights, dict(af.card), str(af.prior.record())

    return Subject(path, read)


def _card(folder: Path) -> Subject:
    subject = _artifact(folder)
    length = int.from_bytes(subject.path.read_bytes()[:8], "little")
    return Subject(subject.path, subject.read, (8, 8 + length))


def _checkpoint(folder: Path) -> Subject:
    newest = folder / "checkpoint.safetensors"

    def read() -> object:
        trainer = Trainer(TRAINING, folder, resume=True)
        return {name: value.tolist() for name, value in trainer.networks.state_dict().items()}

    Trainer(TRAINING, folder).run(seconds=0)
    before = read()
    Trainer(TRAINING, folder, resume=True).run(seconds=0)
    return Subject(newest, read, or_else=before)


def _table(folder: Path) -> Subject:
    rows = ["dataset,C,kind,value"]
    for dataset in ("one", "two", "three"):
        rows += [f"{dataset},{2.0**i},{'ab'[i % 2]},{i / 10}" for i in range(12)]
    (folder / "results.csv").write_text("\n".join(rows) + "\n")
    (folder / "table.json").write_text(
        json.dumps({"direction": "minimize", "budget": 5, "parameters": {"C": {"log": True}}})
    )

    def read() -> object:
        table = read_table(folder)
        assert bool(torch.isfinite(table.points).all())
        return None

    return Subject(folder / "results.csv", read)


def _table_json(folder: Path) -> Subject:
    subject = _table(folder)
    return Subject(folder / "table.json", subject.read)


SUBJECTS: dict[str, Callable[[Path], Subject]] = {
    "journal": _journal,
    "artifact": _artifact,
    "card": _card,
    "checkpoint": _checkpoint,
    "table": _table,
    "table.json": _table_json,
}
