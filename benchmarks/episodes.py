"""Time episodes of 30 steps on three benchmark families.

Prints one JSON line per case. First 100 EI episodes in lockstep with both searches: seconds for
all of them (best of three runs), and how many times faster that is than the published program,
which took 17, 18 and 29 s for 100 episodes on a machine of the same kind (two cores). Then the
learned AF: 100 episodes in lockstep, and one alone on a single thread.

    python benchmarks/episodes.py [--smoke] [--device cuda]
"""

import argparse
import json
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch

import metabo
from metabo.evaluation import Setting, method
from metabo.loop import rollout
from metabo.policies import SearchName, searcher
from metabo.seeding import generator
from metabo.version import commit

PUBLISHED_SECONDS = {"branin": 17.0, "goldstein-price": 18.0, "hartmann-3": 29.0}


@dataclass(frozen=True)
class Case:
    """What is timed."""

    family: str
    method: str
    search: SearchName
    episodes: int
    threads: int


def cases(episodes: int) -> Iterator[Case]:
    """Yield all cases; those in lockstep have `episodes` episodes and use all threads."""
    threads = torch.get_num_threads()
    searches: tuple[SearchName, ...] = ("grid", "gradient")
    for family in PUBLISHED_SECONDS:
        for search in searches:
            yield Case(family, "ei", search, episodes, threads)
    for family in PUBLISHED_SECONDS:
        yield Case(family, "metabo", "gradient", episodes, threads)
        yield Case(family, "metabo", "gradient", 1, 1)


def measure(case: Case, device: str, repeats: int, budget: int | None) -> float:
    """Return the seconds of one run, the best of several; by default with the family's budget."""
    family = metabo.family(case.family)
    search = searcher(case.search, family.domain)
    policy = method(case.method, Setting(family, search, device))
    tasks = family.sample(case.episodes, generator(0, "test tasks")).to(device)
    seconds = []
    torch.set_num_threads(case.threads)
    for _ in range(repeats):
        start = time.perf_counter()
        rollout(policy, tasks, family, seed=0, budget=budget).regret.cpu()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Time all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--smoke", action="store_true", help="two episodes of three evaluations, once"
    )
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    episodes, repeats, budget = (2, 1, 3) if options.smoke else (100, 3, None)
    for case in cases(episodes):
        seconds = measure(case, options.device, repeats, budget)
        published = PUBLISHED_SECONDS[case.family]
        is_unpublished = options.smoke or case.method != "ei"
        line = {
            "name": "episodes",
            "family": case.family,
            "method": case.method,
            "search": case.search,
            "device": _device(options.device),
            "threads": case.threads,
            "E": case.episodes,
            "T": 30,
            "seconds": round(seconds, 4),
            "times_faster": None if is_unpublished else round(published / seconds, 1),
            "commit": commit(),
        }
        print(json.dumps(line), flush=True)


def _device(name: str) -> str:
    return (
        torch.cuda.get_device_name()
        if name == "cuda"
        else platform.processor() or platform.machine()
    )


if __name__ == "__main__":
    main()
