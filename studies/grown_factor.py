"""How right the GP's factor is when it is grown, made at once, and made again where needed.

Prints one JSON line per case. `adversarial`: clusters of near-duplicates with contradictory values
and hardly any noise; the worst error of the posterior mean against 60 digits, in signal
deviations, of the factor grown row by row, of the one made at once, and of the grown one that is
made again where its weights are huge, as `GP.condition` does; and in how many of the steps that
happened. `ordinary`: the same count in runs of EI.

    python studies/grown_factor.py [--smoke]
"""

import argparse
import json
from collections.abc import Iterator

import mpmath
import torch
from torch import Tensor

import metabo
from metabo.acquisition import EI
from metabo.gp import GP, Prior
from metabo.loop import rollout
from metabo.policies import Maximize, searcher
from metabo.seeding import generator
from metabo.version import commit

Line = dict[str, object]


def exact(prior: Prior, x: Tensor, y: Tensor, at: Tensor) -> Tensor:
    """The posterior mean of an RBF GP in 60 digits."""
    mpmath.mp.dps = 60
    scale = [mpmath.mpf(v) for v in prior.lengthscale[0].tolist()]
    signal, diagonal = (mpmath.mpf(q.item()) for q in (prior.signal_variance, prior.diagonal))

    def k(a: list[float], b: list[float]) -> mpmath.mpf:
        parts = zip(a, b, scale, strict=True)
        r2 = sum(((mpmath.mpf(p) - mpmath.mpf(q)) / s) ** 2 for p, q, s in parts)
        return signal * mpmath.exp(-r2 / 2)

    points = x.tolist()
    covariance = mpmath.matrix([[k(a, b) for b in points] for a in points])
    for i in range(len(points)):
        covariance[i, i] += diagonal
    weights = mpmath.lu_solve(covariance, mpmath.matrix([mpmath.mpf(v) for v in y.tolist()]))
    means = [sum(k(p, q) * w for p, w in zip(points, weights, strict=True)) for q in at.tolist()]
    return torch.tensor([float(mean) for mean in means], dtype=torch.float64)


def grown(prior: Prior, x: Tensor, y: Tensor, *, mend: bool) -> tuple[GP, int]:
    """The GP after all observations, and how many factors were made again on the way."""
    gp, count = GP.empty(prior, x.shape[0]), 0
    for t in range(x.shape[1]):
        gp = gp._grown(x[:, t], y[:, t])
        count += int(gp.is_untrustworthy.sum())
        gp = gp._mended() if mend else gp
    return gp, count


def adversarial(seeds: int) -> Iterator[Line]:
    """Contradictory values at near-duplicates."""
    one = torch.ones(1, dtype=torch.float64)
    for noise in (1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12):
        prior = Prior(0.3 * one.expand(1, 2), one, noise * one, jitter=0.0)
        errors, count, steps = torch.zeros(3, dtype=torch.float64), 0, 0
        for clusters, spread in ((1, 1e-1), (1, 1e-2), (3, 1e-2), (3, 1e-4), (8, 1e-6)):
            for seed in range(seeds):
                random = generator(seed, f"{clusters} {spread}")
                size = 24 // clusters
                draws = torch.randn(24, 3, generator=random, dtype=torch.float64)
                centres = torch.rand(clusters, 2, generator=random, dtype=torch.float64)
                x = (centres.repeat(size, 1) + spread * draws[:, :2]).clamp(0, 1)
                y, data = draws[:, 2], (x[None], draws[None, :, 2])
                at = torch.cat([torch.rand(6, 2, generator=random).double(), x[:6] + 1e-3])
                truth = exact(prior, x, y, at)
                plain, _ = grown(prior, *data, mend=False)
                mended, made = grown(prior, *data, mend=True)
                of_all = [
                    (gp.predict(at[None])[0][0] - truth).abs().max()
                    for gp in (plain, GP.of(prior, *data), mended)
                ]
                errors = torch.maximum(errors, torch.stack(of_all))
                count, steps = count + made, steps + 24
        before, at_once, after = (float(f"{error:.1e}") for error in errors)
        line: Line = {"part": "adversarial", "noise": noise, "t": 24, "runs": 5 * seeds}
        yield line | {
            "grown": before,
            "at_once": at_once,
            "mended": after,
            "made_again": round(count / steps, 3),
        }


def ordinary(episodes: int, budgets: tuple[int, ...]) -> Iterator[Line]:
    """Runs of EI."""
    for name in ("branin", "hartmann-3", "gp-rbf:dim=2"):
        family = metabo.family(name)
        policy = Maximize(EI(), searcher("gradient", family.domain))
        tasks = family.sample(episodes, generator(0, "test tasks"))
        for budget in budgets:
            made = rollout(policy, tasks, family, seed=0, budget=budget)
            _, count = grown(family.prior, made.queries, made.observed, mend=True)
            line: Line = {"part": "ordinary", "family": name, "t": budget, "runs": episodes}
            yield line | {"made_again": round(count / (episodes * budget), 5)}


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="a few small cases")
    options = parser.parse_args()
    torch.set_num_threads(1)
    lines = [
        adversarial(1 if options.smoke else 4),
        ordinary(2 if options.smoke else 20, (5,) if options.smoke else (30, 100)),
    ]
    for part in lines:
        for line in part:
            print(json.dumps({"name": "grown_factor", **line, "commit": commit()}), flush=True)


if __name__ == "__main__":
    main()
