"""The picture of one run."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from metabo.evaluation.plots import COLOURS
from metabo.optimizer import Direction, Evaluation, running_best

_SOFTWARE = "metabo, with Matplotlib"
"""Software tag of our pictures, which keeps other pictures from being overwritten."""


def plot_run(
    evaluations: Sequence[Evaluation], direction: Direction, budget: int, path: Path
) -> None:
    """Draw every result and the best value so far over the evaluations, failures at the bottom."""
    history = list(enumerate(evaluations, 1))
    bests = running_best(evaluations, direction)
    known = [(step, value) for step, value in enumerate(bests, 1) if value is not None]
    told = [(step, one.value) for step, one in history if one.value is not None]
    failed = [step for step, one in history if one.is_failure]
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    if told:
        axes.plot(*zip(*told, strict=True), "o", color=COLOURS[4], markersize=4, label="result")
        axes.step(*zip(*known, strict=True), where="post", color=COLOURS[1], label="best so far")
    if failed:
        # Positioned relative to the height of the axes, because a failure has no value.
        heights = [0.02] * len(failed)
        across = axes.get_xaxis_transform()
        axes.plot(failed, heights, "x", color=COLOURS[6], transform=across, label="failed")
    axes.set_xlim(0.5, max(budget, len(history)) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("evaluations")
    axes.set_ylabel(f"value ({direction})")
    axes.grid(visible=True, alpha=0.3)
    if history:
        axes.legend(frameon=False)
    figure.savefig(path, dpi=150, metadata={"Software": _SOFTWARE})


def is_ours(path: Path) -> bool:
    """Tell whether a picture was drawn by `plot_run`."""
    with path.open("rb") as file:
        return _SOFTWARE.encode() in file.read(1024)
