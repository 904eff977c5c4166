"""Every failure that was once seen, tried again."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save as to_bytes

from fault_cases.workers import ended, forked
from metabo.card import Card
from metabo.digest import tensor_digest, text_digest
from metabo.errors import MetaBOError
from metabo.gp import GP, Prior
from metabo.journal import Journal
from metabo.optimizer import Optimizer, Run
from metabo.pretrained import artifacts, load
from metabo.space import Float, Int, Space
from metabo.tasks import family

SPACE = {"x": Float(0.0, 1.0)}
Outcome = tuple[int, int]
"""Tries and failures."""


def figures(*, is_smoke: bool) -> Iterator[dict[str, object]]:
    """One line for each case."""
    for name, (then, check) in CASES.items():
        if is_smoke and name in SLOW:
            continue
        with tempfile.TemporaryDirectory() as folder:
            tries, failures = check(Path(folder))
        yield {"case": name, "then": then, "tries": tries, "failures": failures}


def _threads(folder: Path) -> Outcome:
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


def _fork(folder: Path) -> Outcome:
    optimizer = Optimizer(SPACE, af="random", budget=1000, journal=folder / "run.jsonl")

    def tell(first: int) -> None:
        for value in range(first, first + 30):
            optimizer.tell({"x": value / 1000}, float(value))

    child = forked(lambda: tell(500))
    tell(0)
    failures = ended([child])
    values = {one.value for one in Run.open(folder / "run.jsonl").state.history}
    return 60, failures + len({*range(30), *range(500, 530)} - values)


def _wiped(folder: Path) -> Outcome:
    failures = 0
    for number, content in enumerate((json.dumps({"a": list(range(1000))}), "[]", "text", "{")):
        real, link = folder / f"{number}.json", folder / f"{number}.jsonl"
        real.write_text(content)
        link.symlink_to(real)
        for path in (real, link):
            failures += not _is_refused(partial(Optimizer, SPACE, budget=3, journal=path))
            failures += real.read_text() != content
    return 8, failures


def _simultaneous(folder: Path) -> Outcome:
    path = folder / "run.jsonl"
    Optimizer(SPACE, af="random", budget=1000, journal=path).close()

    def tell(first: int) -> None:
        run = Run.open(path)
        for value in range(first, first + 50):
            run.tell({"x": value / 1000}, float(value))

    errors = ended([forked(partial(tell, 50 * i)) for i in range(8)])
    told = {one.value for one in Run.open(path).state.history}
    return 400, errors + len(set(range(400)) - told)


def _lines(folder: Path) -> Outcome:
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
            failures += not _is_refused(lambda: Journal(path))
    return 60, failures


def _weights(folder: Path) -> Outcome:
    """Weights that no training gives, in files whose digests fit."""
    tries, failures = 0, 0
    for bad in (float("nan"), float("inf"), 1e38):
        for name in ("network.0.weight", "network.2.bias", "scale"):
            weights = {k: v.clone() for k, v in load("branin").state_dict().items()}
            weights[name].view(-1)[0] = bad
            path = _written(folder, load("branin").card, weights)
            tries += 1
            failures += not _is_refused(partial(load, path))
    return tries, failures


def _cards(folder: Path) -> Outcome:
    """Cards that take time or memory, or end in a traceback; each is answered in a second."""
    card = load("branin").card
    architecture = dict(card["architecture"])  # type: ignore[call-overload]
    deep = "[" * 100_000 + "]" * 100_000
    texts = [
        json.dumps(card | {"architecture": architecture | {"hidden": [20_000, 20_000]}}),
        json.dumps(card | {"architecture": architecture | {"dim": 10**400}}),
        json.dumps(card | {"configurations": []}),
        json.dumps(card | {"prior": {"kernel": "rbf"}}),
        json.dumps(card | {"budget": ["x"]}),
        json.dumps(card | {"more": "deep"}).replace('"deep"', deep),
    ]
    failures = 0
    for text in texts:
        path = _written(folder, text, load("branin").state_dict())
        began = time.perf_counter()
        failures += not _is_refused(partial(load, path))
        failures += time.perf_counter() - began > 1
    return len(texts), failures


def _written(folder: Path, card: Card | str, weights: dict[str, torch.Tensor]) -> Path:
    """An artifact as somebody else might write it, its digests right."""
    path, owned = folder / "af.safetensors", {k: v.contiguous() for k, v in weights.items()}
    if not isinstance(card, str):
        card = json.dumps(dict(card) | {"weights_sha256": tensor_digest(owned)})
    path.write_bytes(to_bytes(owned, {"metabo": card, "metabo_sha256": text_digest(card)}))
    return path


def _flips(folder: Path) -> Outcome:
    """Bits all over a journal: each is found, or lies in the number of lines and does nothing."""
    path = folder / "run.jsonl"
    optimizer = Optimizer(SPACE, af="random", budget=100, journal=path)
    for value in range(20):
        optimizer.tell({"x": value / 20}, float(value))
    good, known, failures = path.read_bytes(), Run.open(path).state, 0
    for number in range(200):
        at = number * 7919 % len(good)
        path.write_bytes(good[:at] + bytes([good[at] ^ (1 << number % 8)]) + good[at + 1 :])
        if not _is_refused(partial(Run.open, path)):
            failures += Run.open(path).state != known
    return 200, failures


def _inputs(folder: Path) -> Outcome:
    os.mkfifo(folder / "fifo")
    (folder / "dangling").symlink_to(folder / "nowhere")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "csv").mkdir()
    os.mkfifo(folder / "csv" / "a.csv")
    (folder / "huge").mkdir()
    (folder / "huge" / "a.csv").write_text("dataset,x,value\na,1,1\na,2,2\n")
    table = folder / "huge" / "table.json"
    paths = [folder / name for name in ("fifo", "dangling", "loop", "x" * 5000)]
    attempts: list[Callable[[], object]] = [
        *(lambda path=path: family(f"table:{path}") for path in (*paths, folder / "csv")),
        *(lambda path=path: load(path) for path in paths),
        *(lambda path=path: Optimizer(SPACE, budget=3, journal=path) for path in paths[:3]),
        lambda: family("table:~nobody-at-all/x"),
        lambda: Int(0, 2**60),
        lambda: Int(2**60, 2**60 + 3),
        lambda: Int(0, 10**400),
        lambda: Float(0, 10**400),
        lambda: _with_table(table, {"parameters": {"x": {"low": -(10**400)}}}),
        lambda: _with_table(table, {"value": "a", "dataset": "a"}),
    ]
    failures = 0
    for attempt in attempts:
        began = time.perf_counter()
        failures += not _is_refused(attempt)
        failures += time.perf_counter() - began > 1
    return len(attempts), failures


def _with_table(path: Path, settings: dict[str, object]) -> object:
    path.write_text(json.dumps(settings))
    return family(f"table:{path.parent}")


def _factor(folder: Path) -> Outcome:
    """Contradictory values at near-duplicates, noise far below 1e-8 of the signal."""
    generator, failures, tries = torch.Generator().manual_seed(0), 0, 200
    for _ in range(tries):
        x = torch.rand(1, 6, 2, generator=generator, dtype=torch.float64)
        near = (x + 1e-7 * torch.rand(1, 6, 2, generator=generator, dtype=torch.float64)).clamp(
            0, 1
        )
        x = torch.cat([x, near], 1)
        y = torch.randn(1, 12, generator=generator, dtype=torch.float64)
        prior = Prior.of([0.3, 0.3], signal_variance=1e4, noise_variance=0.0)
        grown = GP.empty(prior, 1)
        for t in range(12):
            grown = grown.condition(x[:, t], y[:, t])
        at = torch.rand(1, 50, 2, generator=generator, dtype=torch.float64)
        mine, once = grown.predict(at)[0], GP.of(prior, x, y).predict(at)[0]
        failures += bool((mine - once).abs().max() > 0.1 * 100)  # in signal deviations of 100
    return tries, failures


LONG = """
import sys, resource, time
import torch
torch.set_num_threads(1)
import metabo
dim, t = map(int, sys.argv[1:3])
gigabytes, seconds = map(float, sys.argv[3:])
space = metabo.Space({f"x{i}": metabo.Float(0.0, 1.0) for i in range(dim)})
optimizer = metabo.Optimizer(space, budget=10_000)
x = torch.rand(t, dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
for point in x:
    optimizer.tell(space.decode(point), float((point - 0.3).square().sum()))
began = time.process_time()
space.clean(optimizer.ask())
took = time.process_time() - began
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(took, used)
sys.exit(0 if took < seconds and used < gigabytes else 1)
"""


def _long(dim: int, t: int, gigabytes: float, seconds: float) -> Callable[[Path], Outcome]:
    def check(folder: Path) -> Outcome:
        command = [sys.executable, "-c", LONG, *map(str, (dim, t, gigabytes, seconds))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return 1, int(done.returncode != 0)

    return check


def _tell_under_pressure(folder: Path) -> Outcome:
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


def _is_refused(work: Callable[[], object]) -> bool:
    try:
        work()
    except MetaBOError as error:
        return "\n" not in str(error)
    return False


def _artifact_flips(folder: Path) -> Outcome:
    content, path = artifacts()["branin"].read_bytes(), folder / "af.safetensors"
    failures = 0
    for number in range(250):
        at = len(content) - 1 - number * 400 % (len(content) // 2)
        path.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        failures += not _is_refused(lambda: load(path))
    return 250, failures


CASES: dict[str, tuple[str, Callable[[Path], Outcome]]] = {
    "threads tell one Optimizer": ("12 of 12 runs lost values", _threads),
    "parent and fork tell one Optimizer": ("values lost", _fork),
    "a file that is no journal, or a link to one": ("wiped", _wiped),
    "ask at D = 3, t = 3,000": ("8 GB were not enough", _long(3, 3000, 2.0, 3.0)),
    "ask at D = 3, t = 9,999": ("one allocation of 25.6 GB", _long(3, 9999, 2.0, 3.0)),
    "ask at D = 100, t = 100": ("15.6 s, 2.2 GB", _long(100, 100, 1.0, 3.0)),
    "metabo tell with little memory": ("traceback, value lost", _tell_under_pressure),
    "8 processes x 50 tells": ("343 of 400 refused", _simultaneous),
    "dropped, doubled, swapped lines": ("60 of 60 unnoticed", _lines),
    "flips in a journal": ("8 of 200 changed a value", _flips),
    "weights of NaN, inf, 1e38": ("9 of 9 used", _weights),
    "flips in an artifact's weights": ("250 of 250 accepted", _artifact_flips),
    "cards that are huge, deep or absurd": ("128 s and 3 GB; tracebacks", _cards),
    "special files and absurd numbers": ("hangs and tracebacks", _inputs),
    "grown factor at near-duplicates": ("off by up to 28 signal deviations", _factor),
}
SLOW = ("ask at D = 3, t = 3,000", "ask at D = 3, t = 9,999", "ask at D = 100, t = 100")
