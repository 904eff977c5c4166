"""What once went wrong with artifacts, input, memory and the GP, tried again."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save as to_bytes

from fault_cases.refusal import Outcome, is_refused
from metabo.digest import tensor_digest, text_digest
from metabo.gp import GP, Prior
from metabo.optimizer import Optimizer
from metabo.pretrained import artifacts, load
from metabo.pretrained.card import Card
from metabo.space import Float, Int
from metabo.tasks import family

SPACE = {"x": Float(0.0, 1.0)}


def weights(folder: Path) -> Outcome:
    """Weights that no training gives, in files whose digests fit."""
    tries, failures = 0, 0
    for bad in (float("nan"), float("inf"), 1e38):
        for name in ("network.0.weight", "network.2.bias", "scale"):
            weights = {k: v.clone() for k, v in load("branin").state_dict().items()}
            weights[name].view(-1)[0] = bad
            path = _written(folder, load("branin").card, weights)
            tries += 1
            failures += not is_refused(partial(load, path))
    return tries, failures


def artifact_flips(folder: Path) -> Outcome:
    """Flipped bits in the weights of an artifact are found."""
    content, path = artifacts()["branin"].read_bytes(), folder / "af.safetensors"
    failures = 0
    for number in range(250):
        at = len(content) - 1 - number * 400 % (len(content) // 2)
        path.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        failures += not is_refused(lambda: load(path))
    return 250, failures


def cards(folder: Path) -> Outcome:
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
        failures += not is_refused(partial(load, path))
        failures += time.perf_counter() - began > 1
    return len(texts), failures


def _written(folder: Path, card: Card | str, weights: dict[str, torch.Tensor]) -> Path:
    """An artifact as somebody else might write it, its digests right."""
    path, owned = folder / "af.safetensors", {k: v.contiguous() for k, v in weights.items()}
    if not isinstance(card, str):
        card = json.dumps(dict(card) | {"weights_sha256": tensor_digest(owned)})
    path.write_bytes(to_bytes(owned, {"metabo": card, "metabo_sha256": text_digest(card)}))
    return path


def inputs(folder: Path) -> Outcome:
    """Special files and absurd numbers are refused in a second."""
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
        failures += not is_refused(attempt)
        failures += time.perf_counter() - began > 1
    return len(attempts), failures


def _with_table(path: Path, settings: dict[str, object]) -> object:
    path.write_text(json.dumps(settings))
    return family(f"table:{path.parent}")


def factor(folder: Path) -> Outcome:
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


def long(dim: int, t: int, gigabytes: float, seconds: float) -> Callable[[Path], Outcome]:
    """One `ask` after many evaluations, in a process of its own, within limits."""

    def check(folder: Path) -> Outcome:
        command = [sys.executable, "-c", LONG, *map(str, (dim, t, gigabytes, seconds))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return 1, int(done.returncode != 0)

    return check
