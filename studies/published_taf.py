"""TAF-ME-50 and TAF-R-50 on the published test functions, beside the published program's medians.

Prints one JSON line per family, flavour and choice of sources: our median regret at t = 1, 5, 10,
30 and by how much it differs from the published median. `published` sources are those of the
published experiments: Sobol points with the direction numbers of Bratley and Fox (1988), which
differ from those of torch (Joe and Kuo, 2008) from the third coordinate on, so in the 50 tasks of
every family, and in the 100 inputs on Hartmann-3. `ours` are those of `family.sources`. Both use
the published variant: ranks by the GP's mean, rho = 1, grid search.

    python studies/published_taf.py [--seed 0] [--smoke]
"""

import argparse
import json
from pathlib import Path

import torch
from torch import Tensor

import metabo
from metabo.acquisition import TAF, Experts, Ranking
from metabo.loop import rollout
from metabo.policies import Maximize, searcher
from metabo.sources import SourceData, source_data
from metabo.tasks import TaskFamily
from metabo.version import commit

TASKS = Path(__file__).parents[1] / "examples" / "published-tasks"
STEPS = (1, 5, 10, 30)
PUBLISHED = {
    ("branin", "taf-me"): (0.084, 0.013, 0.0060, 0.0010),
    ("branin", "taf-r"): (0.084, 0.021, 0.0135, 0.0010),
    ("goldstein-price", "taf-me"): (1.14, 0.665, 0.258, 0.014),
    ("goldstein-price", "taf-r"): (1.14, 0.568, 0.352, 0.049),
    ("hartmann-3", "taf-me"): (0.335, 0.068, 0.017, 6.5e-4),
    ("hartmann-3", "taf-r"): (0.335, 0.042, 0.032, 0.0075),
}
# Primitive polynomials and first direction numbers of the first four coordinates.
_BRATLEY_FOX = ((1, (1,) * 30), (3, (1,)), (7, (1, 1)), (11, (1, 3, 7)))


def bratley_fox(n: int, dim: int) -> Tensor:
    """The first n Sobol points after the corner 0, in Gray-code order, for up to 4 dimensions."""
    columns = []
    for polynomial, first in _BRATLEY_FOX[:dim]:
        degree, numbers = polynomial.bit_length() - 1, list(first)
        while len(numbers) < 30:
            number = numbers[-degree] ^ (numbers[-degree] << degree)
            for k in range(1, degree):
                if polynomial >> (degree - k) & 1:
                    number ^= numbers[-k] << k
            numbers.append(number)
        column = []
        for i in range(1, n + 1):
            point = 0
            for bit, number in enumerate(numbers):
                if (i ^ i >> 1) >> bit & 1:
                    point ^= number << (29 - bit)
            column.append(point / 2**30)
        columns.append(column)
    return torch.tensor(columns, dtype=torch.float64).mT.contiguous()


def published_sources(family: TaskFamily, n_sources: int = 50, n_points: int = 100) -> SourceData:
    """Data of the published source tasks."""
    dim = family.domain.dim
    unit = bratley_fox(n_sources, dim + 1)
    tasks = family.read(
        [
            {"translation": (0.2 * u[:dim] - 0.1).tolist(), "scale": 0.9 + 0.2 * u[dim].item()}
            for u in unit
        ]
    )
    x = bratley_fox(n_points, dim)
    return SourceData(family.prior, x, tasks(x.expand(n_sources, -1, -1)))


def main() -> None:
    """Compare on three families."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="two tasks, two evaluations")
    options = parser.parse_args()
    n_tasks, budget = (2, 2) if options.smoke else (100, 30)
    for (name, flavour), published in PUBLISHED.items():
        family = metabo.family(name)
        tasks = family.read(json.loads((TASKS / f"{name}.json").read_text())[:n_tasks])
        weighting = Experts() if flavour == "taf-me" else Ranking(1.0, "mean", family.prior)
        for whose, data in (
            ("published", published_sources(family)),
            ("ours", source_data(family, 50, 100)),
        ):
            policy = Maximize(TAF(data.models, weighting), searcher("grid", family.domain))
            run = rollout(policy, tasks, family, seed=options.seed, budget=budget)
            medians = run.regret.quantile(0.5, 0)
            steps = [t for t in STEPS if t <= budget]
            ours = [medians[t - 1].item() for t in steps]
            off = [f"{m / p - 1:+.0%}" for m, p in zip(ours, published, strict=False)]
            line = {
                "name": "published_taf",
                "family": name,
                "method": flavour,
                "sources": whose,
                "seed": options.seed,
                "t": steps,
                "median": [f"{m:.3g}" for m in ours],
                "published": published[: len(steps)],
                "off": off,
                "commit": commit(),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
