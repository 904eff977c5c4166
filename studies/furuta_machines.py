"""Learned AFs on machines that no test uses, to choose among them.

The ten machines of `furuta-real` are for testing. Here are others, variations 10 and up, drawn
from the same ranges. Prints one JSON line per artifact: how many are kept up by trial 1, 5, 10 and
25, and the medians over machines of the best value (-log10 of the cost per second) after those.

    python studies/furuta_machines.py [furuta FILE ...] [--machines 100] [--smoke]
"""

import argparse
import json
from dataclasses import dataclass

import torch
from torch import Tensor

import metabo
from metabo.evaluation import Setting, method
from metabo.loop import rollout
from metabo.paper.kinds.control import first_stabilized
from metabo.policies import searcher
from metabo.tasks.furuta.real import BEST, RealTasks
from metabo.version import commit

TRIALS = (1, 5, 10, 25)


@dataclass(frozen=True)
class OtherMachines(RealTasks):
    """Machines whose best gains nobody has looked for."""

    @property
    def optimum(self) -> Tensor:
        """Zero, so that minus the regret is the best value."""
        return torch.zeros(len(self.number), dtype=torch.float64)


def print_line(artifact: str, n_machines: int, budget: int) -> None:
    """Print one line."""
    family = metabo.family("furuta-real")
    search = searcher("gradient", family.domain)
    policy = method("metabo", Setting(family, search, "cpu", artifact))
    tasks = OtherMachines(torch.arange(n_machines) + len(BEST))
    episodes = rollout(policy, tasks, family, seed=0, budget=budget)
    first = first_stabilized(tasks, episodes.queries)
    best = (-episodes.regret).quantile(0.5, 0)
    line = {
        "name": "furuta_machines",
        "artifact": artifact,
        "n_machines": n_machines,
        "trials": TRIALS,
        "kept_up": [int(((first > 0) & (first <= t)).sum()) for t in TRIALS],
        "median_value": [round(best[min(t, budget) - 1].item(), 3) for t in TRIALS],
        "commit": commit(),
    }
    print(json.dumps(line), flush=True)


def main() -> None:
    """One line per artifact."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("artifacts", nargs="*", default=["furuta", "furuta-50"])
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--smoke", action="store_true", help="one machine, two trials")
    given = parser.parse_args()
    for artifact in given.artifacts:
        print_line(
            artifact, 1 if given.smoke else given.machines, 2 if given.smoke else max(TRIALS)
        )


if __name__ == "__main__":
    main()
