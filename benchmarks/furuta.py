"""Time the batched Furuta simulators against loops over single simulations.

Prints one JSON line per simulator and way: seconds for 10,000 simulations that all run to their
end (processor time of one thread on a CPU), and the kernels of a trial before fusion. The loops,
over a few simulations and scaled up, are the published equations in plain Python floats, and with
NumPy's arrays and solver in every step.

    python benchmarks/furuta.py [--fused] [--device cuda] [--smoke]
"""

import argparse
import json
import math
import time
from collections.abc import Callable

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from metabo.tasks.furuta import FurutaTasks, furuta_family, furuta_reference_family
from metabo.tasks.furuta.mechanics import NOMINAL
from metabo.version import commit

ARM_MASS, MASS = NOMINAL["mass_arm"], NOMINAL["mass_pendulum"]
ARM, HALF = NOMINAL["length_arm"], NOMINAL["length_pendulum"] / 2


def plain(gains: list[float]) -> float:
    """The published simulation in plain Python."""
    k1, k2, k3, k4 = gains
    theta, alpha, spin, swing = 0.0, math.radians(10), 0.0, 0.0
    total = 0.0
    for n in range(300):
        if max(abs(theta), abs(alpha), abs(spin), abs(swing)) > 100:
            total += 1e3 * (300 - n)
            break
        u = -(k1 * theta + k2 * alpha + k3 * spin + k4 * swing)
        s, c = math.sin(alpha), math.cos(alpha)
        m11 = ARM_MASS * ARM * ARM / 12 + MASS * (ARM * ARM + HALF * HALF * s * s)
        m12, m22 = -ARM * HALF * MASS * c, 2 * MASS * HALF * HALF / 12 + HALF * HALF * MASS
        r1 = u - 0.016 * theta - swing * HALF * MASS * (2 * spin * HALF * c + swing * ARM) * s
        r2 = HALF * MASS * (spin * (spin * HALF * c + swing * ARM) + 2 * 9.81) * s
        det = m11 * m22 - m12 * m12
        total += 5 * (theta * theta + alpha * alpha) + 0.1 * (spin * spin + swing * swing + u * u)
        theta, alpha = theta + 0.01 * spin, alpha + 0.01 * swing
        spin, swing = (
            spin + 0.01 * (m22 * r1 - m12 * r2) / det,
            swing + 0.01 * (m11 * r2 - m12 * r1) / det,
        )
    return -math.log10(total / 3)


def with_numpy(gains: list[float]) -> float:
    """The same with arrays, as simulators are usually written."""
    k, x = np.array(gains), np.array([0.0, math.radians(10), 0.0, 0.0])
    cost, total = np.array([5, 5, 0.1, 0.1]), 0.0
    for n in range(300):
        if np.abs(x).max() > 100:
            total += 1e3 * (300 - n)
            break
        u = -k @ x
        s, c = np.sin(x[1]), np.cos(x[1])
        m12 = -ARM * HALF * MASS * c
        mass = np.array(
            [
                [ARM_MASS * ARM**2 / 12 + MASS * (ARM**2 + HALF**2 * s**2), m12],
                [m12, 2 * MASS * HALF**2 / 12 + HALF**2 * MASS],
            ]
        )
        force = np.array(
            [
                u - 0.016 * x[0] - x[3] * HALF * MASS * (2 * x[2] * HALF * c + x[3] * ARM) * s,
                HALF * MASS * (x[2] * (x[2] * HALF * c + x[3] * ARM) + 2 * 9.81) * s,
            ]
        )
        total += x @ (cost * x) + 0.1 * u**2
        x = x + 0.01 * np.concatenate([x[2:], np.linalg.solve(mass, force)])
    return -math.log10(total / 3)


class Kernels(TorchDispatchMode):
    """Counts the operations that would each be a kernel on a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(  # type: ignore[no-untyped-def]
        self, operation, types, args=(), kwargs=None
    ):
        """Count an operation unless it only looks at another's memory."""
        self.count += not operation.is_view
        return operation(*args, **(kwargs or {}))


def clock(work: Callable[[], object], device: str, repeats: int) -> float:
    """Least seconds of a few runs."""
    seconds = []
    for _ in range(repeats + 1):  # the first warms up
        now = time.perf_counter if device == "cuda" else time.process_time
        if device == "cuda":
            torch.cuda.synchronize()
        start = now()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(now() - start)
    return min(seconds[1:])


def main() -> None:
    """Time all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fused", action="store_true", help="also with compiled steps")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    n, singles, repeats = (100, 2, 1) if given.smoke else (10_000, 200, 5)
    source = torch.Generator().manual_seed(0)
    share = 1 + 0.05 * torch.rand(1, n, 4, generator=source, dtype=torch.float64)
    reference = furuta_reference_family().read([NOMINAL])
    assert isinstance(reference, FurutaTasks)
    gains = reference.regulator[:, None] * share
    loops: dict[str, float] = {}
    rows = gains[0, :singles].tolist()
    for name, one in (("plain Python", plain), ("NumPy", with_numpy)):
        expected = reference.score(gains[:, :singles])[0]
        assert torch.allclose(torch.tensor([one(k) for k in rows]).double(), expected, atol=1e-5)
        seconds = clock(lambda one=one: [one(k) for k in rows], "cpu", repeats)  # type: ignore[misc]
        loops[name] = seconds * n / singles
        line = {"name": "furuta", "family": "furuta-reference", "way": name, "device": "cpu"}
        print(
            json.dumps({**line, "commit": commit(), "n": n, "seconds": round(loops[name], 4)}),
            flush=True,
        )
    for family in (furuta_reference_family, furuta_family):
        for is_fused in (False, True) if given.fused else (False,):
            tasks = family(fused="always" if is_fused else "never").read([NOMINAL])
            assert isinstance(tasks, FurutaTasks)
            trials = (tasks.regulator[:, None] * share).to(given.device)
            tasks = tasks.to(given.device)
            with torch.inference_mode():
                seconds = clock(lambda: tasks.score(trials), given.device, repeats)  # noqa: B023
            line = {"name": "furuta", "family": family().name, "device": given.device}
            line |= {"way": "fused" if is_fused else "batched"}
            numbers: dict[str, object] = {"n": n, "seconds": round(seconds, 4)}
            if not is_fused:
                with Kernels() as kernels:
                    tasks.score(trials[:, :1])
                numbers["kernels"] = kernels.count
            if family is furuta_reference_family:
                numbers["times"] = {k: round(v / seconds, 1) for k, v in loops.items()}
            print(json.dumps({**line, **numbers, "commit": commit()}), flush=True)


if __name__ == "__main__":
    main()
