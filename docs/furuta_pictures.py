"""Draw a stabilized trial of a machine of `furuta-real`: frames, and angles over time.

python docs/furuta_pictures.py
"""

import math
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metabo.tasks.furuta import FurutaTasks, furuta_family
from metabo.tasks.furuta.hardware import PERIOD, Variation, run
from metabo.tasks.furuta.mechanics import NOMINAL

FOLDER = Path(__file__).parent / "images"
ARM, PENDULUM, INK = "#0072B2", "#D55E00", "#1b1b1b"
TIMES = (0.0, 0.06, 0.12, 0.2, 0.4, 1.0, 2.52, 4.9)


def project(x: float, y: float, z: float) -> tuple[float, float]:
    """A view from the side and a little from above."""
    return y - 0.35 * x, z - 0.3 * x


def draw_frame(axes: Axes, variation: Variation, arm: float, pendulum: float) -> None:
    """The machine at two angles."""
    reach, length = variation.length_arm, variation.length_pendulum
    tip = (reach * math.cos(arm), reach * math.sin(arm), 0.0)
    across = -length * math.sin(pendulum)
    top = (
        tip[0] - across * math.sin(arm),
        tip[1] + across * math.cos(arm),
        length * math.cos(pendulum),
    )
    circle = [project(reach * math.cos(a / 20), reach * math.sin(a / 20), 0) for a in range(127)]
    axes.plot(*zip(*circle, strict=True), color="0.85", linewidth=0.8)
    axes.plot(*zip(project(0, 0, -0.05), project(0, 0, 0), strict=True), color=INK, linewidth=5)
    axes.plot(*zip(project(0, 0, 0), project(*tip), strict=True), color=ARM, linewidth=4)
    axes.plot(*zip(project(*tip), project(*top), strict=True), color=PENDULUM, linewidth=3)
    axes.set(xlim=(-0.15, 0.15), ylim=(-0.06, 0.15), aspect="equal")
    axes.axis("off")


def main() -> None:
    """Run the nominal regulator on the first machine and draw it."""
    variation = Variation.numbered(0)
    tasks = furuta_family().read([NOMINAL])
    assert isinstance(tasks, FurutaTasks)
    gains = tasks.regulator[0].tolist()
    angles = run(variation, tuple(gains), record=True).angles
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    grid = figure.add_gridspec(2, len(TIMES), height_ratios=(1.3, 1))
    for column, seconds in enumerate(TIMES):
        axes = figure.add_subplot(grid[0, column])
        draw_frame(axes, variation, *angles[round(seconds / PERIOD)])
        axes.set_title(f"{seconds:g} s", fontsize=9)
    axes = figure.add_subplot(grid[1, :])
    times = [PERIOD * n for n in range(len(angles))]
    for number, (name, colour) in enumerate((("arm", ARM), ("pendulum", PENDULUM))):
        degrees = [math.degrees(pair[number]) for pair in angles]
        axes.plot(times, degrees, color=colour, linewidth=1.2, label=name)
    axes.set(xlabel="seconds", ylabel="degrees", xlim=(0, 5))
    axes.legend(frameon=False, ncols=2, loc="upper right")
    axes.grid(visible=True, alpha=0.3)
    figure.savefig(FOLDER / "furuta-run.png", dpi=120)


if __name__ == "__main__":
    main()
