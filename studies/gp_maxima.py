"""How good the maxima of GP samples are: what a much harder search finds beyond them.

Prints one JSON line per family: the share of tasks on which more than 1e-6 is found, the largest
such gap, the longest lengthscale with one, and seconds per task.

    python studies/gp_maxima.py [--smoke] [--dims 1,2,3,4,5] [--tasks 100] [--device cuda]
"""

import argparse
import json
import time

import torch

from metabo.seeding import generator
from metabo.tasks.fourier import SpectralKernel
from metabo.tasks.gp_samples import GPSampleTasks, gp_sample_family
from metabo.tasks.maximum import Effort, global_maximum
from metabo.version import commit


def main() -> None:
    """Search twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", default="1,2,3,4,5")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--smoke", action="store_true", help="three tasks in one dimension")
    given = parser.parse_args()
    if given.smoke:
        given.dims, given.tasks = "1", 3
    kernels: tuple[SpectralKernel, ...] = ("rbf", "matern52")
    for kernel in kernels:
        for dim in map(int, given.dims.split(",")):
            family = gp_sample_family(kernel, dim=dim)
            tasks = family.sample(given.tasks, generator(0, "test tasks")).to(given.device)
            assert isinstance(tasks, GPSampleTasks)
            start = time.perf_counter()
            found = tasks.optimum.cpu()
            seconds = (time.perf_counter() - start) / given.tasks
            usual = Effort.sized(dim)
            hard = Effort(2 * usual.side, 8 * usual.pool, 8 * usual.starts, 4 * usual.finishers)
            more = global_maximum(tasks.waves, tasks.lengthscale, hard)[1].cpu()
            is_missed = more - found > 1e-6
            scales = torch.where(is_missed, tasks.lengthscale.cpu(), 0.0)
            line = {
                "name": "gp_maxima",
                "family": f"{family.name}:dim={dim}",
                "tasks": given.tasks,
                "device": given.device,
                "missed": is_missed.double().mean().item(),
                "largest_gap": (more - found).max().item(),
                "longest_lengthscale_missed": scales.max().item(),
                "seconds_per_task": round(seconds, 5),
                "commit": commit(),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
