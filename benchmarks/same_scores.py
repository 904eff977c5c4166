"""Whether a learned AF scores the same through BoTorch, and whether `optimize_acqf` finds its top.

Prints one JSON line per state of ten Branin runs of ten steps.

    python benchmarks/same_scores.py [--smoke] [--starts scattered|sobol]
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import torch
from botorch.optim import optimize_acqf

import metabo
from metabo.domain import sobol
from metabo.integrations.botorch import NeuralAcquisition, prior_model, scattered_starts
from metabo.policies import Maximize, searcher
from metabo.seeding import Noise, generator
from metabo.state import BOState
from metabo.version import commit


@dataclass(frozen=True)
class Case:
    """One state of a run of ours, seen by both."""

    task: int
    step: int
    worst_score_error: float
    """Relative, at 1,000 points; where scores are below 1e-3 of the largest, to that: a score that
    crosses zero has no relative error to speak of, and only differences of scores matter."""
    shortfall: float | None = None
    """How much lower the point of `optimize_acqf` scores than ours, in units of the range."""


def compare(
    *, tasks: Iterable[int], steps: Iterable[int], starts: str | None = None
) -> Iterator[Case]:
    """Follow runs of the artifact `branin-50`, and look at these steps of each.

    Args:
        tasks: Numbers of the test tasks.
        steps: Evaluations before each look.
        starts: Of `optimize_acqf`: `scattered`, or BoTorch's own, `sobol`; None not to run it.
    """
    family, af = metabo.family("branin"), metabo.load("branin-50")
    policy = Maximize(af, searcher("gradient", family.domain))
    points = sobol(1000, 2)
    steps = tuple(steps)
    for number in tasks:
        task = family.sample(number + 1, generator(0, "test tasks")).take(torch.tensor([number]))
        state = BOState.start(af.prior, episodes=1, budget=family.budget)
        for step in range(max(steps) + 1):
            noise = Noise.at(0, episodes=torch.tensor([number]), step=step).stream("policy")
            proposal = policy.propose(state, noise)
            if step in steps:
                history = state.history
                model = prior_model(af.prior, history.x[0], history.y[0][:, None])
                score = NeuralAcquisition(model, af, family.budget)
                ours = af(state.belief(points[None]))[0]
                theirs = score(points[:, None]).detach()
                floor = 1e-3 * ours.abs().max()
                error = ((theirs - ours).abs() / torch.maximum(ours.abs(), floor)).max().item()
                top = score(proposal.x[:, None]).detach()
                shortfall = None if starts is None else _shortfall(score, top, ours, starts)
                yield Case(number, step, error, shortfall)
            state = state.observe(proposal.x, task(proposal.x[:, None])[:, 0])


def _shortfall(
    score: NeuralAcquisition, top: torch.Tensor, ours: torch.Tensor, starts: str
) -> float:
    bounds = torch.tensor([[0.0] * 2, [1.0] * 2], dtype=torch.float64)
    _, found = optimize_acqf(
        score,
        bounds,
        q=1,
        num_restarts=10,
        raw_samples=512,
        ic_generator=scattered_starts if starts == "scattered" else None,
        retry_on_optimization_warning=False,
    )
    spread = torch.maximum(top, ours.max()) - ours.min()
    return ((top - found) / spread).item()


def main() -> None:
    """Print one JSON line per state."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="two steps of one run")
    parser.add_argument("--starts", default="scattered", choices=["scattered", "sobol"])
    given = parser.parse_args()
    n_tasks, n_steps = (1, 2) if given.smoke else (10, 10)
    torch.manual_seed(0)  # BoTorch's own starts are random
    for case in compare(tasks=range(n_tasks), steps=range(n_steps), starts=given.starts):
        line = {"name": "same_scores", "starts": given.starts, **asdict(case)}
        line["commit"] = commit()
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
