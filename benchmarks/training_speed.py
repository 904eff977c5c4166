"""Time the iterations of training: rollout and update apart, by preset and precision.

Prints one JSON line per setting: milliseconds of a rollout and of an update (medians), steps per
second, and the peak memory; with `--eager` a second one, of the same without CUDA graphs.

    python benchmarks/training_speed.py [--smoke] [--device cuda] [--families branin]
        [--presets paper] [--eager]
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import torch

from metabo.training import Trainer, preset
from metabo.training.draws import minibatch_order
from metabo.version import commit


def measure(trainer: Trainer, repeats: int) -> tuple[float, float]:
    """Median seconds of a rollout and of an update."""
    device = torch.device(trainer.config.device)
    wait = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    tasks = trainer.family.sample(trainer.config.episodes, torch.Generator().manual_seed(0))
    tasks, key, budget = tasks.to(device), torch.tensor(1), trainer.budgets[-1]
    seconds = []
    for number in range(repeats + 1):
        wait()
        start = time.perf_counter()
        batch, _ = trainer.collect(tasks, key, budget, trainer.searches[0])
        order = minibatch_order(trainer.config, 0, len(batch.index))
        wait()
        middle = time.perf_counter()
        trainer.update(batch, order, torch.tensor(trainer.config.entropy_coefficient))
        wait()
        if number:  # the first sets up
            seconds.append((middle - start, time.perf_counter() - middle))
    rollouts, updates = torch.tensor(seconds, dtype=torch.float64).median(0).values.tolist()
    return rollouts, updates


def main() -> None:
    """Time every setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--families", default="branin")
    parser.add_argument("--presets", default="paper,default")
    parser.add_argument("--precisions", default="fp32,tf32,bf16")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--eager", action="store_true", help="also without CUDA graphs")
    parser.add_argument("--n-global", type=int, help="points of the global grid")
    parser.add_argument("--smoke", action="store_true", help="two short episodes, once")
    given = parser.parse_args()
    repeats = 1 if given.smoke else given.repeats
    for family in given.families.split(","):
        for name in given.presets.split(","):
            for precision in given.precisions.split(","):
                changes: dict[str, object] = {"device": given.device, "precision": precision}
                if given.smoke:
                    changes |= {"episodes": 2, "budget": 3, "hidden": (8,), "minibatches": 2}
                    changes |= {"validation_tasks": 2, "n_global": 20}
                if given.n_global:
                    changes["n_global"] = given.n_global
                config = preset(name, family, **changes)
                high = "high" if precision == "tf32" else "highest"
                torch.set_float32_matmul_precision(high)
                for is_eager in (False, True) if given.eager else (False,):
                    folder = Path(tempfile.mkdtemp()) / "run"
                    trainer = Trainer(config, folder, record=not is_eager)
                    report(trainer, name, repeats, is_eager=is_eager)


def report(trainer: Trainer, preset_name: str, repeats: int, *, is_eager: bool) -> None:
    """Measure and print one line."""
    config = trainer.config
    on_cuda = config.device.startswith("cuda")
    if on_cuda:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    rollouts, updates = measure(trainer, repeats)
    peak = (
        torch.cuda.max_memory_reserved()
        if on_cuda
        else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    )
    steps = config.episodes * trainer.budgets[-1]
    line = {
        "name": "training_speed",
        "family": config.family,
        "preset": preset_name,
        "precision": config.precision,
        "width": config.hidden[0],
        "episodes": config.episodes,
        "is_eager": is_eager or not on_cuda,
        "rollout_ms": round(1e3 * rollouts, 1),
        "update_ms": round(1e3 * updates, 1),
        "steps_per_second": round(steps / (rollouts + updates), 1),
        "peak_gb": round(peak / 1e9, 2),
        "device": torch.cuda.get_device_name() if on_cuda else "CPU",
        "threads": torch.get_num_threads(),
        "commit": commit(),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
