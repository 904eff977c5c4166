"""Sixteen processes of four threads each, some of which fork, tell one journal at once."""

import os
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from fault_cases.workers import ended, forked
from metabo.journal import Journal
from metabo.optimizer import Optimizer, Run
from metabo.space import Float

PROCESSES, THREADS = 16, 4
FORK_EVERY = 25
"""Every 25th tell is made by a fork of the process while its other threads are telling."""


def crowd(n: int) -> Iterator[dict[str, object]]:
    """Tell `n` values, and look for each of them."""
    each = max(1, n // (PROCESSES * THREADS))
    total = each * PROCESSES * THREADS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        Optimizer({"x": Float(0.0, 1.0)}, af="random", budget=10_000, journal=path).close()
        heard: list[bytes] = []
        files, children = [], []
        for number in range(PROCESSES):
            incoming, outgoing = os.pipe()
            work = partial(_process, path, number * THREADS * each, each, outgoing)
            children.append(forked(work, incoming))
            os.close(outgoing)
            files.append(incoming)
        listeners = [threading.Thread(target=_listen, args=(file, heard)) for file in files]
        for listener in listeners:
            listener.start()
        for listener in listeners:
            listener.join()
        errors = ended(children)
        acknowledged = [int(word) for words in heard for word in words.split()]
        values = [int(one.value or 0) for one in Run.open(path).state.history]
        n_lines = len(Journal(path).entries)
    failures = len(set(acknowledged) - set(values)) + len(values) - len(set(values)) + errors
    yield {
        "case": f"{PROCESSES} processes x {THREADS} threads, and forks",
        "tells": total,
        "acknowledged": len(acknowledged),
        "lines": n_lines,
        "failures": failures + (total - len(acknowledged)),
    }


def _process(path: Path, first: int, each: int, acknowledge: int) -> None:
    optimizer = Optimizer.open(path)

    def tell(value: int) -> None:
        optimizer.tell({"x": value / 1_000_000}, float(value))
        os.write(acknowledge, f"{value} ".encode())

    def work(start: int) -> None:
        for value in range(start, start + each):
            if value % FORK_EVERY == 0:
                assert ended([forked(partial(tell, value))]) == 0
            else:
                tell(value)

    threads = [threading.Thread(target=work, args=(first + i * each,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _listen(file: int, heard: list[bytes]) -> None:
    parts = []
    while part := os.read(file, 2**16):
        parts.append(part)
    os.close(file)
    heard.append(b"".join(parts))
