"""Compare the GP, the searchers and whole episodes on CPU and CUDA, and time both.

Prints one JSON line per family: the largest differences of posterior mean and deviation, in units
of the signal deviation, after 30 observations; of the median regret curve over 100 EI episodes;
and the seconds of those episodes on either device.

    python benchmarks/devices.py
"""

import json
import time

import torch

import metabo
from metabo.gp import GP
from metabo.seeding import generator
from metabo.version import commit

FAMILIES = ("branin", "goldstein-price", "hartmann-3")


def gp_difference(name: str) -> float:
    """Largest difference of mean and deviation between the devices."""
    family = metabo.family(name)
    dim, rng = family.domain.dim, torch.Generator().manual_seed(0)
    x = torch.rand(100, 30, dim, generator=rng, dtype=torch.float64)
    at = torch.rand(100, 500, dim, generator=rng, dtype=torch.float64)
    y = family.sample(100, generator(0, "test tasks"))(x)
    results = []
    for device in ("cpu", "cuda"):
        gp = GP.empty(family.prior.to(device), 100)
        for t in range(30):
            gp = gp.condition(x[:, t].to(device), y[:, t].to(device))
        results.append(torch.stack(gp.predict(at.to(device))).cpu())
    here, there = results
    return ((here - there).abs().max() / family.prior.signal_variance.sqrt()).item()


def main() -> None:
    """Compare on three families and both searches."""
    for name in FAMILIES:
        line: dict[str, object] = {"name": "devices", "family": name, "gp": gp_difference(name)}
        for search in ("grid", "gradient"):
            curves = []
            for device in ("cpu", "cuda", "cuda"):
                start = time.perf_counter()
                run = metabo.evaluate(name, methods=["ei"], search=search, device=device)
                line[f"seconds_{search}_{device}"] = round(time.perf_counter() - start, 3)
                curves.append(run.methods["ei"].regret.median(0).values)
            logs = [c.clamp_min(1e-16).log10() for c in curves]
            line[f"median_log10_regret_{search}"] = (logs[0] - logs[1]).abs().max().item()
        line |= {"torch": torch.__version__, "device": torch.cuda.get_device_name()}
        print(json.dumps(line | {"commit": commit()}), flush=True)


if __name__ == "__main__":
    main()
