"""Time 100 EI episodes of 30 steps in lockstep, for three benchmark families and both searches.

Prints one JSON line per case: seconds for all episodes (best of three runs), and how many times
faster that is than the published program, which took 17, 18 and 29 s for 100 episodes on a
machine of the same kind (two cores).

    python benchmarks/episodes.py [--smoke] [--device cuda]
"""

import argparse
import json
import platform
import subprocess
import time
from pathlib import Path

import torch

import metabo
from metabo.experiments import Setting, method
from metabo.loop import rollout
from metabo.policies import SearchName, searcher
from metabo.seeding import generator

PUBLISHED_SECONDS = {"branin": 17.0, "goldstein-price": 18.0, "hartmann-3": 29.0}


def measure(name: str, search: SearchName, device: str, *, episodes: int, repeats: int) -> float:
    """Seconds for one lockstep run, the best of several."""
    family = metabo.family(name)
    policy = method("ei", Setting(family, searcher(search, family.domain)))
    tasks = family.sample(episodes, generator(0, "test tasks")).to(device)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        rollout(policy, tasks, family, seed=0).regret.cpu()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Time all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="four episodes, once")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    episodes, repeats = (4, 1) if options.smoke else (100, 3)
    for name, published in PUBLISHED_SECONDS.items():
        for search in ("grid", "gradient"):
            seconds = measure(name, search, options.device, episodes=episodes, repeats=repeats)
            line = {
                "name": "episodes",
                "family": name,
                "method": "ei",
                "search": search,
                "device": _device(options.device),
                "threads": torch.get_num_threads(),
                "E": episodes,
                "T": 30,
                "seconds": round(seconds, 4),
                "times_faster": None if options.smoke else round(published / seconds, 1),
                "commit": _commit(),
            }
            print(json.dumps(line), flush=True)


def _device(name: str) -> str:
    return (
        torch.cuda.get_device_name()
        if name == "cuda"
        else platform.processor() or platform.machine()
    )


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    folder = Path(__file__).parent
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
