"""What once lost or damaged journals, tried again: each gives its tries and its failures."""

import json
import resource
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

from fault_cases.refusal import Outcome, is_refused
from fault_cases.workers import ended, forked
from metabo.journal import Journal
from metabo.optimizer import Optimizer, Run
from metabo.space import Float, Space

SPACE = {"x": Float(0.0, 1.0)}


def threads(folder: Path) -> Outcome:
    """Two, four and eight threads tell one `Optimizer`."""
    failures = 0
    for number, n_threads in enumerate((2, 4, 8) * 4):
        path = folder / f"{number}.jsonl"
        optimizer = Optimizer(SPACE, af="random", budget=100, journal=path)

        def tell(first: int, optimizer: Optimizer = optimizer, step: int = n_threads) -> None:
            for value in range(first, 60, step):
                optimizer.tell({"x": value / 60}, float(value))

        threads = [threading.Thread(target=tell, args=(i,)) for i in range(n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        values = sorted(one.value or 0.0 for one in Run.open(path).state.history)
        failures += values != [float(v) for v in range(60)]
    return 12, failures


def fork(folder: Path) -> Outcome:
    """A process and its fork tell one `Optimizer`."""
    optimizer = Optimizer(SPACE, af="random", budget=1000, journal=folder / "run.jsonl")

    def tell(first: int) -> None:
        for value in range(first, first + 30):
            optimizer.tell({"x": value / 1000}, float(value))

    child = forked(lambda: tell(500))
    tell(0)
    failures = ended([child])
    values = {one.value for one in Run.open(folder / "run.jsonl").state.history}
    return 60, failures + len({*range(30), *range(500, 530)} - values)


def wiped(folder: Path) -> Outcome:
    """Files that are not journals, and links to them, are left as they are."""
    failures = 0
    for number, content in enumerate((json.dumps({"a": list(range(1000))}), "[]", "text", "{")):
        real, link = folder / f"{number}.json", folder / f"{number}.jsonl"
        real.write_text(content)
        link.symlink_to(real)
        for path in (real, link):
            failures += not is_refused(partial(Optimizer, SPACE, budget=3, journal=path))
            failures += real.read_text() != content
    return 8, failures


def simultaneous(folder: Path) -> Outcome:
    """Eight processes tell at once, and none is refused."""
    path = folder / "run.jsonl"
    Optimizer(SPACE, af="random", budget=1000, journal=path).close()

    def tell(first: int) -> None:
        run = Run.open(path)
        for value in range(first, first + 50):
            run.tell({"x": value / 1000}, float(value))

    errors = ended([forked(partial(tell, 50 * i)) for i in range(8)])
    told = {one.value for one in Run.open(path).state.history}
    return 400, errors + len(set(range(400)) - told)


def lines(folder: Path) -> Outcome:
    """Dropped, doubled and swapped lines are found."""
    path = folder / "run.jsonl"
    optimizer = Optimizer(SPACE, af="random", budget=100, journal=path)
    for value in range(21):
        optimizer.tell({"x": value / 21}, float(value))
    lines, failures = path.read_bytes().splitlines(keepends=True), 0
    for at in range(1, 21):
        for changed in (
            [*lines[:at], *lines[at:][1:]],
            [*lines[:at], lines[at], *lines[at:]],
            [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]],
        ):
            path.write_bytes(b"".join(changed))
            failures += not is_refused(lambda: Journal(path))
    return 60, failures


def flips(folder: Path) -> Outcome:
    """Bits all over a journal: each is found, or lies in the number of lines and does nothing."""
    path = folder / "run.jsonl"
    optimizer = Optimizer(SPACE, af="random", budget=100, journal=path)
    for value in range(20):
        optimizer.tell({"x": value / 20}, float(value))
    good, known, failures = path.read_bytes(), Run.open(path).state, 0
    for number in range(200):
        at = number * 7919 % len(good)
        path.write_bytes(good[:at] + bytes([good[at] ^ (1 << number % 8)]) + good[at + 1 :])
        if not is_refused(partial(Run.open, path)):
            failures += Run.open(path).state != known
    return 200, failures


def tell_under_pressure(folder: Path) -> Outcome:
    """`metabo tell` where asking would need more memory than there is: the value is kept."""
    path = folder / "run.jsonl"
    run = Run.open(_begun(path))
    for value in range(2000):
        run.tell({"x": value / 10_000}, float(value))

    def limited() -> None:
        gigabyte = 2**30
        resource.setrlimit(resource.RLIMIT_AS, (3 * gigabyte, 3 * gigabyte))

    command = [sys.executable, "-m", "metabo", "tell", str(path), "x=0.9", "value=7"]
    done = subprocess.run(command, preexec_fn=limited, capture_output=True, check=False)
    last = Run.open(path).state.history[-1].value
    return 1, int(done.returncode != 0 or last != 7)


def _begun(path: Path) -> Path:
    Optimizer(Space(SPACE), budget=10_000, journal=path).close()
    return path
