"""Compare the two searchers on states reached by EI runs: the EI each finds, and what it costs.

Prints one JSON line per family and one for all. A gradient counts as three evaluations. States
whose best EI is under 1e-12 are left out.

    python benchmarks/search_quality.py [--smoke]
"""

import argparse
import json
from dataclasses import dataclass, field

import torch
from torch import Tensor

import metabo
from metabo.acquisition import EI, AcquisitionFunction, climbable
from metabo.policies import Maximize, Searcher, StartAt, searcher
from metabo.seeding import Noise, generator
from metabo.state import Belief, BOState
from metabo.version import commit


@dataclass
class Counting:
    """An AF that counts the points it scores, three times where a gradient is wanted."""

    af: AcquisitionFunction
    count: int = 0
    ascending: "Counting | None" = field(default=None)

    def __call__(self, belief: Belief, /) -> Tensor:
        """Score and count."""
        self.count += belief.mean.numel() * (3 if belief.x.requires_grad else 1)
        return self.af(belief)

    @property
    def ascent(self) -> AcquisitionFunction:
        """The sibling that is climbed, counted too."""
        if self.ascending is None:
            self.ascending = Counting(climbable(self.af))
        return self.ascending

    @property
    def total(self) -> int:
        """All evaluations so far."""
        return self.count + (self.ascending.total if self.ascending else 0)


def compare(
    name: str,
    n_tasks: int,
    seed: int,
    searches: tuple[Searcher, Searcher],
    steps: int | None = None,
) -> Tensor:
    """Return rows of step, EI found by grid and by gradient search, and the counts of both.

    Without `steps`, runs are as long as the family's budget.
    """
    family = metabo.family(name)
    tasks = family.sample(n_tasks, generator(seed, "test tasks"))
    state = BOState.start(family.prior, episodes=n_tasks, budget=family.budget)
    rows = []
    for step in range(steps or family.budget):
        noise = Noise.at(seed, episodes=torch.arange(n_tasks), step=step)
        policy = StartAt(0.5, Maximize(EI(), searches[0]), family.domain)
        x = policy.propose(state, noise).x
        if step:
            found = []
            for search in searches:
                af = Counting(EI())
                candidates = search.candidates(state, af)
                found.append((candidates.score.amax(-1), af.total / n_tasks))
            (grid, grid_count), (gradient, gradient_count) = found
            ones = torch.ones_like(grid)
            rows.append(
                torch.stack(
                    [step * ones, grid, gradient, grid_count * ones, gradient_count * ones], -1
                )
            )
        state = state.observe(x, tasks(x[:, None, :])[:, 0])
    return torch.cat(rows)


def report(name: str, rows: Tensor, verbose: bool) -> None:
    """Print one JSON line."""
    rows = rows[rows[:, 1:3].amax(-1) >= 1e-12]
    ratio = rows[:, 2] / rows[:, 1]
    line = {
        "name": "search_quality",
        "family": name,
        "states": len(rows),
        "at_least_as_good": (ratio >= 1 - 1e-6).double().mean().item(),
        "ratio_q01_q05_q50": ratio.quantile(ratio.new_tensor([0.01, 0.05, 0.5])).tolist(),
        "evaluations_grid": rows[:, 3].mean().item(),
        "evaluations_gradient": rows[:, 4].mean().item(),
        "evaluations_ratio": (rows[:, 4] / rows[:, 3]).max().item(),
        "commit": commit(),
    }
    print(json.dumps(line))
    if verbose:
        for low in range(1, 30, 5):
            part = (rows[:, 0] >= low) & (rows[:, 0] < low + 5)
            print("   steps", low, round((ratio[part] >= 1 - 1e-6).double().mean().item(), 3))


def main() -> None:
    """Compare on the three families."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="two tasks per family, four steps")
    parser.add_argument("--tasks", type=int, default=12, help="tasks per family, 29 states each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="success by step as well")
    options = parser.parse_args()
    n_tasks = 2 if options.smoke else options.tasks
    everything = []
    for name in ("branin", "goldstein-price", "hartmann-3"):
        domain = metabo.family(name).domain
        searches = (searcher("grid", domain), searcher("gradient", domain))
        rows = compare(name, n_tasks, options.seed, searches, 4 if options.smoke else None)
        report(name, rows, options.verbose)
        everything.append(rows)
    report("all", torch.cat(everything), options.verbose)


if __name__ == "__main__":
    main()
