"""What an `ask` costs after thousands of evaluations, and what bounding that costs in regret.

Prints one JSON line per case, in three parts (all of them, or one with `--part`):

- `cost`: CPU seconds and peak memory of one `ask`, on one core, each case in a process of its own;
  `--plot` draws them.
- `regret`: runs with limits lowered to 100 observations seen by the GP and 70 fitted to, beside
  runs of the exact GP: the final regret of both, the same seeds. And how much log EI, judged by
  the exact GP, is lost by asking the reduced one, at the end of each exact run.
- `search`: how far the best score found in 50 and 100 dimensions by the search for 20 is below
  that of a search whose size keeps growing with the dimensions.

    python benchmarks/long_runs.py [--smoke] [--part cost] [--plot FILE.png] [--runs 3]
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

import metabo
from metabo import Optimizer, Space
from metabo.acquisition import AcquisitionFunction, LogEI
from metabo.gp import fitted_prior, reduction, standardized
from metabo.policies import GradientRefine, Scatter
from metabo.seeding import generator
from metabo.state import BOState
from metabo.tasks import Tasks
from metabo.version import commit

Line = dict[str, object]
Function = tuple[str, int, Callable[[Tensor], Tensor], float]
"""Name, dimensions, what is minimized (`N D` to `N`) and its minimum."""
SEEN, FITTED, STEPS = 100, 70, 200


def histories(dim: int, t: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Points everywhere and points closing in on a minimum, with the values of a wavy bowl."""
    random = generator(seed, "long runs")
    centre = torch.rand(dim, generator=random, dtype=torch.float64)
    wide = torch.rand(t // 2, dim, generator=random, dtype=torch.float64)
    noise = torch.randn(t - t // 2, dim, generator=random, dtype=torch.float64)
    x = torch.cat([wide, (centre + 0.1 * noise).clamp(0, 1)])
    return x, wavy(x, centre)


def wavy(x: Tensor, centre: Tensor) -> Tensor:
    """A bowl with waves."""
    offset = x - centre
    return offset.square().sum(-1) + 0.1 * (8 * offset).cos().sum(-1)


def cost_cases(smoke: bool) -> Iterator[tuple[int, int, str | None]]:
    """Dimensions, observations and AF; None is the default, fitted as all without an artifact."""
    for t in (10,) if smoke else (10, 30, 100, 300, 1000, 3000, 9999):
        for af in ("hartmann-3",) if smoke else (None, "logei", "hartmann-3"):
            yield 3, t, af
    for t in () if smoke else (100, 300, 1000):
        yield 100, t, None


def cost(dim: int, t: int, af: str | None) -> Line:
    """Seconds and memory of one `ask` in this process."""
    torch.set_num_threads(1)
    space = None if af == "hartmann-3" else Space.cube(dim)
    optimizer = Optimizer(space, budget=10_000, af=af)
    for point, value in zip(*histories(dim, t), strict=True):
        optimizer.tell(optimizer.space.decode(point), float(value))
    start = time.process_time()
    optimizer.ask()
    return {"seconds": round(time.process_time() - start, 3), "gigabytes": round(peak(), 3)}


def peak() -> float:
    """Peak memory of this process; Linux hands `ru_maxrss` down from the parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def costs(smoke: bool) -> Iterator[Line]:
    """Each case in a process of its own."""
    for dim, t, af in cost_cases(smoke):
        command = [sys.executable, __file__, "--one", json.dumps([dim, t, af])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        case: Line = {"part": "cost", "D": dim, "t": t, "af": af or "gp-matern52"}
        yield case | json.loads(done.stdout)


def lower(task: Tasks, x: Tensor) -> Tensor:
    """A task, whose values are to be large, as something to minimize."""
    return -task(x[None])[0]


def functions(n: int) -> Iterator[Function]:
    """So many functions of each kind."""
    for name in ("hartmann-3", "gp-matern52:dim=3"):
        tasks = metabo.family(name).sample(n, generator(1, "long runs"))
        for number in range(n):
            task = tasks.take(torch.tensor([number]))
            yield name, 3, partial(lower, task), -float(task.optimum[0])
    one = torch.linspace(-1, 1, 20_001, dtype=torch.float64)
    for seed in range(n):
        centre = 0.2 + 0.6 * torch.rand(4, generator=generator(seed, "c"), dtype=torch.float64)
        least = 0.0
        for middle in centre:
            inside = one[(one >= -middle) & (one <= 1 - middle)]
            least += float(wavy(inside[:, None], torch.zeros(1)).min())
        yield "wavy bowl", 4, partial(wavy, centre=centre), least


@contextmanager
def limits(seen: int, fitted: int) -> Iterator[None]:
    """Other numbers of observations that the GP sees and is fitted to."""
    before = reduction.MOST_SEEN, reduction.MOST_FITTED
    try:
        reduction.MOST_SEEN, reduction.MOST_FITTED = seen, fitted
        yield
    finally:
        reduction.MOST_SEEN, reduction.MOST_FITTED = before


def run(function: Function, steps: int, af: str | None) -> tuple[Optimizer, list[float]]:
    """A run, and its best value after each step."""
    _, dim, f, _ = function
    optimizer, best = Optimizer(Space.cube(dim), budget=steps + 1, af=af), math.inf
    curve = []
    for _ in range(steps):
        params = optimizer.ask()
        value = float(f(optimizer.space.encode(params)[None])[0])
        optimizer.tell(params, value)
        curve.append(best := min(best, value))
    return optimizer, curve


def regrets(smoke: bool, n: int) -> Iterator[Line]:
    """Exact and reduced runs of each function."""
    steps, seen, fitted = (6, 4, 3) if smoke else (STEPS, SEEN, FITTED)
    for function in islice(functions(n), 1 if smoke else None):
        name, dim, _, least = function
        with limits(10_000, 10_000):
            exact, curve = run(function, steps, None)
        with limits(seen, fitted):
            _, few_curve = run(function, steps, None)
        line: Line = {"part": "regret", "function": name, "D": dim, "t": steps, "seen": seen}
        yield line | {
            "fitted": fitted,
            "regret_exact": float(f"{curve[-1] - least:.2e}"),
            "regret_reduced": float(f"{few_curve[-1] - least:.2e}"),
            "log_ei_lost": round(lost(exact, seen, fitted), 3),
        }


def lost(optimizer: Optimizer, seen: int, fitted: int) -> float:
    """Log EI of the exact GP at its own proposal, less that at the reduced GP's."""
    asked = []
    states = []
    for most in ((10_000, 10_000), (seen, fitted)):
        with limits(*most):
            again = Optimizer(optimizer.space, budget=optimizer.budget, af="logei")
            again.take_up(optimizer.history)
            asked.append(optimizer.space.encode(again.ask()))
            states.append(again.state)
    score = LogEI()(states[0].belief(torch.stack(asked)[None]))[0]
    return float(score[0] - score[1])


def searches(smoke: bool, n: int) -> Iterator[Line]:
    """The best score found by the search of this size and by a larger one."""
    afs: list[tuple[str, AcquisitionFunction]]
    afs = [("logei", LogEI()), ("gp-matern52", metabo.load("gp-matern52"))]
    for dim in (6,) if smoke else (50, 100):
        larger = GradientRefine(Scatter(n_global=150 * dim), iterations=5 + 2 * dim)
        for name, af in afs:
            below, seconds = [], [0.0, 0.0]
            for seed in range(n):
                x, y = (q[None] for q in histories(dim, 10 if smoke else 150, seed))
                y = standardized(-y)
                state = BOState.after(fitted_prior(x, y), x, y, budget=300)
                scores = []
                for number, search in enumerate((GradientRefine.sized(dim), larger)):
                    start = time.process_time()
                    scores.append(float(search.candidates(state, af).score.max()))
                    seconds[number] += (time.process_time() - start) / n
                below.append(scores[1] - scores[0])
            line: Line = {"part": "search", "D": dim, "af": name, "states": n}
            yield line | {
                "largest_loss": float(f"{max(below):.1e}"),
                "seconds": round(seconds[0], 3),
                "seconds_of_larger": round(seconds[1], 3),
            }


def draw(lines: list[Line], path: Path) -> None:
    """Time and memory against the number of observations."""
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    kinds = [
        ("gp-matern52", 3, "learned AF, 3 dimensions", "o-"),
        ("logei", 3, "log EI, 3 dimensions", "s--"),
        ("hartmann-3", 3, "artifact with its own prior, 3 dimensions", "^:"),
        ("gp-matern52", 100, "learned AF, 100 dimensions", "D-."),
    ]
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
    for axis, what, label in zip(
        axes,
        ("seconds", "gigabytes"),
        ("CPU seconds of one ask", "Peak memory of the process in GB"),
        strict=True,
    ):
        for af, dim, name, style in kinds:
            own = [one for one in lines if (one["af"], one["D"]) == (af, dim)]
            axis.plot([o["t"] for o in own], [o[what] for o in own], style, label=name, ms=4)
        axis.set(xscale="log", yscale="log", xlabel="Observations told", ylabel=label)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.axvline(reduction.MOST_FITTED, color="0.75", lw=1, zorder=0)
        axis.axvline(reduction.MOST_SEEN, color="0.75", lw=1, zorder=0)
        axis.grid(alpha=0.2)
    axes[1].set_ylim(0.1, 2.5)
    axes[1].set_yticks([0.1, 0.2, 0.5, 1, 2])
    notes = (reduction.MOST_FITTED, "fitted to a part"), (reduction.MOST_SEEN, "GP sees a part")
    for t, note in notes:
        axes[1].text(t * 1.08, 2.3, note, rotation=90, ha="left", va="top", color="0.4", size=8)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="a few small cases")
    parser.add_argument("--part", choices=("cost", "regret", "search"))
    parser.add_argument("--runs", type=int, default=3, help="functions of each kind, and states")
    parser.add_argument("--plot", type=Path, metavar="FILE.png")
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.one:
        print(json.dumps(cost(*options.one)))
        return
    n = 1 if options.smoke else options.runs
    parts: dict[str, Callable[[], Iterator[Line]]] = {
        "cost": lambda: costs(options.smoke),
        "regret": lambda: regrets(options.smoke, n),
        "search": lambda: searches(options.smoke, n),
    }
    made = []
    for part in [options.part] if options.part else parts:
        for line in parts[part]():
            made.append(line)
            print(json.dumps({"name": "long_runs", **line, "commit": commit()}), flush=True)
    if options.plot:
        draw([line for line in made if line["part"] == "cost"], options.plot)


if __name__ == "__main__":
    main()
