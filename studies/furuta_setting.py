"""What the search boxes and GP priors of the Furuta families were chosen by.

Prints one JSON line per family and measure: the share of uniform gains that keep the pendulum up
(nominal pendulum, and mean and largest over drawn ones), the share of drawn pendula that the
midpoint of the box keeps up, where EI starts, and the median of GP hyperparameters
fitted to source tasks, half of whose points are spread over the whole cube and half over a cube of
edge 0.3 about the regulator, where runs end up.

    python studies/furuta_setting.py [--smoke]
"""

import argparse
import json

import torch
from torch import Tensor

from metabo.domain import sobol
from metabo.gp import fit
from metabo.seeding import generator
from metabo.tasks.furuta import FurutaTasks, furuta_family, furuta_reference_family
from metabo.tasks.furuta.mechanics import NOMINAL
from metabo.version import commit

EDGE = 0.3


def share_up(tasks: FurutaTasks, n_gains: int) -> Tensor:
    """For each task the share of uniform gains under which no trial ends early."""
    source = generator(0, "gains")
    unit = torch.rand(n_gains, 4, generator=source, dtype=torch.float64)
    gains = tasks.box.decode(unit).expand(len(tasks.regulator), -1, -1)
    return (tasks.trial(gains)[1] == 1).double().mean(-1)


def fitted(tasks: FurutaTasks, n_points: int) -> dict[str, list[float]]:
    """Median hyperparameters over the tasks."""
    n_tasks = len(tasks.regulator)
    low = torch.tensor(tasks.box.low, dtype=torch.float64)
    high = torch.tensor(tasks.box.high, dtype=torch.float64)
    centre = ((tasks.regulator - low) / (high - low)).clamp(0, 1)
    points = sobol(n_points // 2, 4)
    near = (centre[:, None] + EDGE * (points - 0.5)).clamp(0, 1)
    x = torch.cat([points.expand(n_tasks, -1, -1), near], 1)
    prior = fit(x, tasks(x), mean="observed", n_starts=24, n_climbs=3, iterations=60)
    found = torch.cat(
        [prior.lengthscale, prior.signal_variance[:, None], prior.noise_variance[:, None]], -1
    )
    median = [float(f"{v:.3g}") for v in found.median(0).values.tolist()]
    return {
        "lengthscale": median[:4],
        "signal_variance": median[4:5],
        "noise_variance": median[5:],
    }


def main() -> None:
    """Measure both families."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true")
    is_smoke = parser.parse_args().smoke
    n_gains, n_tasks, n_points = (200, 2, 20) if is_smoke else (20_000, 16, 256)
    for family in (furuta_reference_family(), furuta_family()):
        nominal = family.read([NOMINAL])
        drawn = family.sample(n_tasks, generator(0, "training tasks"))
        assert isinstance(nominal, FurutaTasks)
        assert isinstance(drawn, FurutaTasks)
        shares = share_up(drawn, n_gains // 4)
        line: dict[str, object] = {"name": "furuta_setting", "family": family.name}
        line |= {"gains": n_gains, "up_nominal": share_up(nominal, n_gains).item()}
        line |= {"up_mean": shares.mean().item(), "up_largest": shares.max().item()}
        middle = drawn.box.decode(torch.full((n_tasks, 1, 4), 0.5, dtype=torch.float64))
        line["up_midpoint"] = (drawn.trial(middle)[1] == 1).double().mean().item()
        print(json.dumps({**line, "commit": commit()}), flush=True)
        sources = family.sources(n_tasks)
        assert isinstance(sources, FurutaTasks)
        line = {"name": "furuta_setting", "family": family.name, "tasks": n_tasks}
        print(json.dumps({**line, **fitted(sources, n_points), "commit": commit()}), flush=True)


if __name__ == "__main__":
    main()
