"""Time the learned prior: how long it takes to learn, and what an ask costs on it.

Prints one JSON line per case, on one thread:

- `learn`: seconds to learn a prior from a number of sources;
- `ask`: milliseconds of one proposal after 10 evaluations, the best of several, with the learned
  prior and without, in one run. The network without is the former default, of 3 x 128 units,
  the one with it is that of the preset `fast`; their weights do not matter here;
- `outside`: mean log10 regret of log EI on the learned prior, with and without the guard, less
  that of plain log EI, on tasks outside of the range of the sources, on another family's, and with
  sources whose values were shuffled.

    python benchmarks/learned_prior.py [--smoke] [--part learn|ask|outside] [--plot FILE]

With `--plot`, the milliseconds of `ask` are drawn over the number of sources.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import torch

import metabo
from metabo.acquisition import EI, NeuralAF, OnLearned
from metabo.gp import LearnedPart, Prior
from metabo.loop import rollout
from metabo.policies import Informed, Maximize, Policy, classical, informed, searcher
from metabo.seeding import Noise, generator
from metabo.sources import learned_prior, shared
from metabo.sources.points import inducing_points
from metabo.state import BOState
from metabo.tasks import TaskFamily
from metabo.training import preset
from metabo.training.presets import PLAIN_FEATURES
from metabo.version import commit

FAMILIES = ("branin", "goldstein-price", "hartmann-3")
OTHERS = {"branin": "goldstein-price", "goldstein-price": "branin", "hartmann-3": "rosenbrock-3"}
"""Another family on the same cube, whose sources mislead."""
SEEN = 10
"""Evaluations before the ask."""


def learn(name: str, sizes: tuple[int, ...]) -> Iterator[dict[str, object]]:
    """Time learning from different numbers of sources."""
    for n_sources in sizes:
        start = time.perf_counter()
        part = learned_prior(metabo.family(name), n_sources).learned
        seconds = time.perf_counter() - start
        assert part is not None
        groups = len(part.groups.centre)
        yield {"sources": n_sources, "groups": groups, "seconds": round(seconds, 2)}


def ask(name: str, sizes: tuple[int, ...], repeats: int) -> Iterator[dict[str, object]]:
    """Time a proposal with each prior; the methods take turns."""
    family = metabo.family(name)
    search = searcher("gradient", family.domain)
    x = torch.rand(1, SEEN, family.domain.dim, generator=generator(0, "x"), dtype=torch.float64)
    y = family.sample(1, generator(0, "test tasks"))(x)
    weights = generator(0, "weights")
    former = preset("default", name, features=PLAIN_FEATURES, residual="mean")
    shapes = {
        "plain": (former.architecture(family.domain.dim), None),
        **{f"{n}": (preset("fast", name).architecture(family.domain.dim), n) for n in sizes},
    }
    cases: dict[str, tuple[Policy, Prior]] = {}
    for label, (shape, n) in shapes.items():
        prior = family.prior if n is None else learned_prior(family, n)
        af = NeuralAF(shape, weights).double().eval()
        cases[f"network, {label}"] = (informed(Maximize(af, search), prior.learned), prior)
        ei = Maximize(EI() if n is None else OnLearned(EI()), search)
        cases[f"ei, {label}"] = (informed(ei, prior.learned), prior)
    states = {c: BOState.after(p, x, y, budget=30) for c, (_, p) in cases.items()}
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(repeats):
        for case, (policy, _) in cases.items():
            start = time.perf_counter()
            policy.propose(states[case], Noise.at(0, episodes=torch.arange(1), step=SEEN))
            best[case] = min(best[case], time.perf_counter() - start)
    yield {"milliseconds": {case: round(1e3 * s, 2) for case, s in best.items()}}


def outside(name: str, n_tasks: int, budget: int) -> Iterator[dict[str, object]]:
    """Compare log EI on both priors on tasks that the sources do not know."""
    far = metabo.family(f"{name}:translation=0.2..0.3:scale=0.5..0.8")
    own, other = metabo.family(name), metabo.family(OTHERS[name])
    known = learned_prior(own, 50).learned
    yield from _compared("translations 0.2 to 0.3", far, known, n_tasks, budget)
    misleading = learned_prior(other, 50).learned
    yield from _compared(f"sources of {other.name}", own, misleading, n_tasks, budget)
    yield from _compared("shuffled values", own, _shuffled(own), n_tasks, budget)


def _shuffled(family: TaskFamily) -> LearnedPart:
    """Return what sources teach whose values are at the wrong points."""
    x, checks = inducing_points(family.prior, family.sources(24))
    y = family.sources(50)(torch.cat([x, checks]).expand(50, -1, -1))
    order = torch.rand(y.shape, generator=generator(0, "order")).argsort(-1)
    y = y.gather(1, order)
    return shared.learn(family.prior, x, y[:, : len(x)], checks, y[:, len(x) :])


def _compared(
    label: str, family: TaskFamily, part: LearnedPart | None, n_tasks: int, budget: int
) -> Iterator[dict[str, object]]:
    assert part is not None
    search = searcher("gradient", family.domain)
    policies: dict[str, Policy] = {"plain": classical("logei", family.domain, search)}
    for kind, one in (("guarded", part), ("unguarded", part.unguarded())):
        policies[kind] = Informed(Maximize(OnLearned(EI()), search), one)
    tasks = family.sample(n_tasks, generator(0, "test tasks"))
    log = {
        kind: rollout(policy, tasks, family, seed=0, budget=budget).regret.clamp_min(1e-8).log10()
        for kind, policy in policies.items()
    }
    marks = [t for t in (5, 10, 20, 30) if t <= budget]
    for kind in ("guarded", "unguarded"):
        less = (log[kind] - log["plain"]).mean(0)
        shown = {t: round(float(less[t - 1]), 2) for t in marks}
        overall = float(log[kind].mean() - log["plain"].mean())
        yield {"tasks": label, "kind": kind, "less": shown, "mean": round(overall, 2)}


def main() -> None:
    """Print one JSON line per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--part", choices=("learn", "ask", "outside"))
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    many: tuple[int, ...] = (10, 100, 1000, 100_000)
    sizes, n_tasks, budget, repeats = (50, 1000), 40, 30, 25
    if given.smoke:
        sizes, many, n_tasks, budget, repeats = (5, 10), (5,), 2, 3, 1
    asks: dict[str, dict[str, float]] = {}
    for name in FAMILIES[:1] if given.smoke else FAMILIES:
        parts = {
            "learn": lambda name=name: learn(name, sizes),
            "ask": lambda name=name: ask(name, many, repeats),
            "outside": lambda name=name: outside(name, n_tasks, budget),
        }
        for part, lines in parts.items():
            for line in lines() if given.part in (None, part) else ():
                case = {"name": "learned_prior", "part": part, "family": name, **line}
                print(json.dumps(case | {"commit": commit()}), flush=True)
                if part == "ask":
                    asks[name] = cast(dict[str, float], line["milliseconds"])
    if given.plot is not None:
        draw(asks, given.plot)


def draw(asks: dict[str, dict[str, float]], path: Path) -> None:
    """Draw the cost of an ask over the number of sources, and that without a learned prior."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 3.6), layout="constrained")
    axes = figure.subplots()
    for colour, (name, cost) in zip(("#0072B2", "#D55E00", "#009E73"), asks.items(), strict=False):
        own = {
            int(n): v
            for case, v in cost.items()
            if (n := case.removeprefix("network, ")).isdigit()
        }
        axes.semilogx(list(own), list(own.values()), "o-", color=colour, label=name)
        axes.axhline(cost["network, plain"], color=colour, ls=":")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("sources that the prior was learned from (dotted: no learned prior)")
    axes.set_ylabel("milliseconds of an ask")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=140)


if __name__ == "__main__":
    main()
