"""The gap between the simulated Furuta pendulum and the machines of `furuta-real`.

Prints one JSON line per machine: what the regulator of the nominal simulation is worth there
(-log10 of the cost per second) and how long it keeps the pendulum up, what it is worth in the
simulation, what the best known gains are worth, how far copies of the regulator that differ by
0.1 % lie apart, and the seconds of a trial. Draws docs/images/furuta-gap.png with --plot.

With --search, looks for better gains instead: Sobol points at 0.6 to 1.6 times the regulator of
the machine's own masses and lengths, then a (1 + 1) evolution strategy with the one-fifth rule
from the best of them.

    python studies/furuta_real.py [--plot] [--search] [--smoke]
"""

import argparse
import json
import math
import time
from pathlib import Path
from statistics import fmean

import torch

from metabo.domain import sobol
from metabo.seeding import generator
from metabo.tasks.furuta import FurutaTasks, furuta_family
from metabo.tasks.furuta.family import PHYSICAL_BOX
from metabo.tasks.furuta.hardware import Variation, run
from metabo.tasks.furuta.mechanics import NOMINAL
from metabo.tasks.furuta.real import BEST
from metabo.version import commit

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "furuta-gap.png"


def regulator(parameters: dict[str, float]) -> tuple[tuple[float, ...], float]:
    """LQR gains for a pendulum, and their value in the simulation of it."""
    tasks = furuta_family().read([parameters])
    assert isinstance(tasks, FurutaTasks)
    return tuple(tasks.regulator[0].tolist()), tasks.optimum.item()


def values(variation: Variation, gains: tuple[float, ...], copies: int = 5) -> list[float]:
    """What copies of gains that differ by up to 0.1 % are worth on a machine.

    Friction and counting make trials chaotic: the best single value of many would be luck.
    """
    offsets = (0.002 * (sobol(copies, 4) - 0.5)).tolist()
    tried = [tuple(k * (1 + o) for k, o in zip(gains, some, strict=True)) for some in offsets]
    return [-math.log10(run(variation, copy).cost) for copy in tried]


def value(variation: Variation, gains: tuple[float, ...]) -> float:
    """What gains are worth on a machine: the mean over their copies."""
    return fmean(values(variation, gains))


def search(number: int, trials: int) -> dict[str, object]:
    """The best gains found for a machine."""
    variation, source = Variation.numbered(number), generator(number, "furuta search")
    own, _ = regulator({name: getattr(variation, name) for name in NOMINAL})
    shares = (0.6 + 1.0 * sobol(trials // 3, 4)).tolist()
    starts = [own, regulator(NOMINAL)[0]]
    starts += [tuple(k * s for k, s in zip(own, share, strict=True)) for share in shares]
    top, best = max((value(variation, gains), gains) for gains in starts)
    width = 0.2
    for _ in range(trials - len(starts)):
        draws = torch.randn(4, generator=source, dtype=torch.float64).tolist()
        sides = zip(best, own, draws, PHYSICAL_BOX.low, PHYSICAL_BOX.high, strict=True)
        tried = tuple(min(max(k + width * u * z, low), high) for k, u, z, low, high in sides)
        reached = value(variation, tried)
        width *= 1.2 if reached > top else 1.2**-0.25
        if reached > top:
            best, top = tried, reached
    return {"gains": [round(k, 3) for k in best], "value": round(top, 4)}


def plot(rows: list[dict[str, float]]) -> None:
    """Draw the values of the nominal regulator beside those of the best known gains."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    axes = figure.subplots()
    numbers = [row["variation"] for row in rows]
    axes.axhline(rows[0]["simulation"], color="#0072B2", label="nominal LQR, simulation")
    axes.bar(numbers, [r["nominal"] for r in rows], 0.6, color="#D55E00", label="on the machine")
    axes.plot(numbers, [r["best"] for r in rows], "k_", markersize=16, label="best known gains")
    axes.set_xticks(numbers)
    axes.set_xlabel("variation of furuta-real")
    axes.set_ylabel("-log10 cost per second")
    axes.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.15))
    figure.savefig(PICTURE, dpi=130)


def main() -> None:
    """Measure, or search."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    gains, simulated = regulator(NOMINAL)
    rows = []
    for number in range(2 if given.smoke else len(BEST)):
        head = {"name": "furuta_real", "variation": number}
        if given.search:
            found = search(number, 12 if given.smoke else given.trials)
            print(json.dumps({**head, **found, "commit": commit()}), flush=True)
            continue
        variation = Variation.numbered(number)
        start = time.process_time()
        trial = run(variation, gains)
        seconds = time.process_time() - start
        copies = values(variation, gains)
        nominal, spread = fmean(copies), max(copies) - min(copies)
        row = {"variation": number, "simulation": simulated, "nominal": nominal}
        row |= {"lost": simulated - nominal, "share_up": trial.share, "best": BEST[number]}
        row |= {"spread": spread, "seconds": seconds}
        rows.append({key: round(float(part), 4) for key, part in row.items()})
        print(json.dumps({**rows[-1], **head, "commit": commit()}), flush=True)
    if given.plot and rows:
        plot(rows)


if __name__ == "__main__":
    main()
