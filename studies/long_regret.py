"""What a GP that sees 1,000 observations loses in regret against one that sees them all.

Runs of 2,000 steps on samples of a Matern-5/2 GP with known hyperparameters, two policies on the
same functions with the same seeds: the exact GP, and the reduced one of `metabo.gp.reduction`.
They are the same up to step 1,000. Prints one JSON line per case: median regrets, and the mean
ratio of regrets in powers of ten (positive where the reduced GP is worse) with its 90 % interval.
Long on a CPU: use a GPU.

    python studies/long_regret.py [--smoke] [--device cuda] [--dim 3] [--af logei] [--runs 20]
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

import metabo
from metabo.acquisition import AcquisitionFunction, LogEI
from metabo.gp import reduction
from metabo.loop import rollout
from metabo.policies import Policy, Proposal, from_midpoint, searcher
from metabo.seeding import Noise, generator
from metabo.state import BOState
from metabo.version import commit


@dataclass(frozen=True)
class Reduced:
    """Another policy's choice, from a GP that sees a part of a long history."""

    then: Policy

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """The choice, as `Optimizer.ask` would make it."""
        if state.n_observed <= reduction.MOST_SEEN:
            return self.then.propose(state, noise)
        x, y = state.history.x, state.history.y
        seen = BOState.after(state.gp.prior, x, y, budget=int(state.budget))
        return self.then.propose(seen, noise)


def compare(dim: int, af: str, n: int, steps: int, device: str) -> dict[str, object]:
    """Both policies on `n` functions."""
    family = metabo.family(f"gp-matern52:dim={dim}")
    tasks = family.sample(n, generator(1, "long regret")).to(device)
    score: AcquisitionFunction = LogEI() if af == "logei" else metabo.load(af).to(device)
    exact = from_midpoint(score, family.domain, searcher("gradient", family.domain))
    regret: list[Tensor] = []
    seconds: list[float] = []
    for policy in (exact, Reduced(exact)):
        began = time.perf_counter()
        with torch.inference_mode():
            regret.append(rollout(policy, tasks, family, seed=0, budget=steps).regret.cpu())
        seconds.append(round(time.perf_counter() - began, 1))
    marks = [steps * part // 8 for part in (4, 5, 6, 7, 8)]
    return {
        "D": dim,
        "af": af,
        "functions": n,
        "seen": reduction.MOST_SEEN,
        "t": marks,
        "exact": [short(regret[0][:, t - 1].median()) for t in marks],
        "reduced": [short(regret[1][:, t - 1].median()) for t in marks],
        "ratio": [interval(regret[1][:, t - 1], regret[0][:, t - 1]) for t in marks],
        "seconds": seconds,
        "device": device,
    }


def interval(one: Tensor, other: Tensor) -> list[float]:
    """Mean of log10(one / other), and half the width of its 90 % interval."""
    ratio = (one.clamp_min(1e-9) / other.clamp_min(1e-9)).log10()
    half = 1.645 * float(ratio.std()) / len(ratio) ** 0.5 if len(ratio) > 1 else 0.0
    return [round(float(ratio.mean()), 3), round(half, 3)]


def short(number: Tensor) -> float:
    """Two digits."""
    return float(f"{float(number):.1e}")


def cases(given: argparse.Namespace) -> Sequence[tuple[int, str]]:
    """Dimensions and AFs."""
    if given.smoke:
        return [(2, "logei"), (2, "gp-matern52")]
    dims, afs = given.dim or [3, 6, 10], given.af or ["logei", "gp-matern52"]
    return [(dim, af) for dim in dims for af in afs]


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="short runs with lowered limits")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dim", type=int, action="append")
    parser.add_argument("--af", action="append", help="logei or an artifact for any dimension")
    parser.add_argument("--runs", type=int, default=20, help="functions of each kind")
    parser.add_argument("--steps", type=int, default=2000)
    given = parser.parse_args()
    n, steps = given.runs, given.steps
    if given.smoke:
        n, steps, reduction.MOST_SEEN = 2, 8, 5
    for dim, af in cases(given):
        line = compare(dim, af, n, steps, given.device)
        print(json.dumps({"name": "long_regret", **line, "commit": commit()}), flush=True)


if __name__ == "__main__":
    main()
