"""Time one episode of each transfer method alone (E = 1), with the published grid search.

Prints one JSON line per case: seconds of a 30-step episode, mean of three, on one thread; and what
the published program took on a machine of the same kind, where that is known.

    python benchmarks/transfer.py [--smoke] [--search grid]
"""

import argparse
import json
import statistics
from typing import cast

import torch

import metabo
from metabo.policies import SearchName
from metabo.version import commit

PUBLISHED = {
    ("branin", "taf-me:M=50:N=100"): 36,
    ("branin", "taf-r:M=50:N=100"): 255,
    ("goldstein-price", "taf-me:M=50:N=100"): 34,
    ("goldstein-price", "taf-r:M=50:N=100"): 256,
    ("hartmann-3", "taf-me:M=50:N=100"): 61,
    ("hartmann-3", "taf-r:M=50:N=100"): 385,
}
METHODS = (
    "ei",
    "taf-me:M=50:N=100",
    "taf-r:M=50:N=100",
    "taf-me:M=100:N=200",
    "taf-r:M=100:N=200",
    "gmm-ucb",
    "eps-greedy",
)


def main() -> None:
    """Time all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="three steps, once, on Branin")
    parser.add_argument("--search", default="grid")
    options = parser.parse_args()
    torch.set_num_threads(1)
    budget, repeats = (3, 1) if options.smoke else (30, 3)
    families = ("branin",) if options.smoke else ("branin", "goldstein-price", "hartmann-3")
    for family in families:
        for method in METHODS:
            seconds = []
            for seed in range(repeats):
                run = metabo.evaluate(
                    family,
                    methods=[method],
                    tasks=1,
                    seed=seed,
                    budget=budget,
                    search=cast(SearchName, options.search),
                )
                seconds.append(run.methods[method].seconds_per_episode)
            line = {
                "name": "transfer",
                "family": family,
                "method": method,
                "search": options.search,
                "E": 1,
                "T": budget,
                "threads": 1,
                "seconds": round(statistics.mean(seconds), 3),
                "published": PUBLISHED.get((family, method)),
                "commit": commit(),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
