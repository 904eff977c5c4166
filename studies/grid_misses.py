"""How often the published grid search misses the maximum of a learned AF that gradients find.

Runs an artifact with the grid search on tasks of its family, which are neither test tasks nor
those that weights were chosen by, and at every step asks the gradient search too. Prints one JSON
line per artifact, with a list over the steps from the second on for each number: the share of
episodes in which the two choices are more than 0.1 apart; by how much the score of the grid's
choice is lower, in the median (negative where the grid found more); and the share of either choice
that lies within 0.05 of the best observation.

    python studies/grid_misses.py [--smoke] [--artifacts branin,FILE] [--tasks 48] [--steps 22]
"""

import argparse
import json

import torch

import metabo
from metabo.policies import GradientRefine, HierarchicalGrid, Searcher
from metabo.pretrained import TrainedAF
from metabo.seeding import generator
from metabo.state import BOState
from metabo.version import commit


def choice(search: Searcher, state: BOState, af: TrainedAF) -> tuple[torch.Tensor, torch.Tensor]:
    """The best point found in each episode, and its score."""
    with torch.no_grad():
        found = search.candidates(state, af)
    score, index = found.score.max(-1)
    return found.belief.x[torch.arange(len(index)), index], score


def watch(af: TrainedAF, n_tasks: int, n_steps: int) -> dict[str, list[float]]:
    """The numbers of every step but the first."""
    family = metabo.family(str(af.card["family"]))
    dim, budget = family.domain.dim, family.budget
    tasks = family.sample(n_tasks, generator(0, "tasks to watch"))
    state = BOState.start(family.prior, episodes=n_tasks, budget=budget)
    rows = []
    for _ in range(min(n_steps, budget)):
        x, score = choice(HierarchicalGrid.paper(dim), state, af)
        if state.n_observed:
            other, reached = choice(GradientRefine.sized(dim), state, af)
            best = state.history.x[torch.arange(n_tasks), state.history.y.argmax(-1)]
            rows.append(
                torch.stack(
                    [
                        ((x - other).norm(dim=-1) > 0.1).double().mean(),
                        (reached - score).median(),
                        ((x - best).norm(dim=-1) < 0.05).double().mean(),
                        ((other - best).norm(dim=-1) < 0.05).double().mean(),
                    ]
                )
            )
        state = state.observe(x, tasks(x[:, None, :])[:, 0])
    names = ("apart", "score_less", "grid_near_best", "gradient_near_best")
    columns = torch.stack(rows).T.tolist()
    return {
        name: [round(value, 2) for value in column]
        for name, column in zip(names, columns, strict=True)
    }


def main() -> None:
    """Print one JSON line per artifact."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--artifacts", default="branin,goldstein-price,hartmann-3")
    parser.add_argument("--tasks", type=int, default=48)
    parser.add_argument("--steps", type=int, default=22)
    parser.add_argument("--smoke", action="store_true", help="two tasks, three steps")
    given = parser.parse_args()
    if given.steps < 2:
        parser.error("--steps must be at least 2: before the first there is nothing to miss.")
    for artifact in given.artifacts.split(","):
        size = (2, 3) if given.smoke else (given.tasks, given.steps)
        numbers = watch(metabo.load(artifact), *size)
        line = {"name": "grid_misses", "artifact": artifact, "tasks": size[0], **numbers}
        line |= {"commit": commit()}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
