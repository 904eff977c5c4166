"""Draw the two pictures of architecture.md.

python docs/pictures.py
"""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

FOLDER = Path(__file__).parent / "images"
INK, CORE, EDGE, SHELL = "#1b1b1b", "#d6e6f4", "#0072B2", "#fbe3cf"

LAYERS = [
    ("cli", "the command line: tables, progress bars", SHELL),
    ("paper", "the paper's experiments, claims, report", SHELL),
    ("explain | integrations", "what an AF does | BoTorch, Optuna, Ax", SHELL),
    ("evaluation", "methods by name, evaluate, cross-validate", SHELL),
    ("training | optimizer", "PPO, trainer, checkpoints | ask and tell", CORE),
    ("pretrained", "artifacts: weights and card", CORE),
    ("loop", "rollout: E episodes in lockstep", CORE),
    ("metrics", "regret, quantiles, steps to a threshold", CORE),
    ("policies | sources", "search the AF, decide the query | data of source tasks", CORE),
    ("acquisition | tasks", "score a Belief (EI, TAF, neural) | functions to optimize", CORE),
    ("state", "Belief, BOState", CORE),
    ("gp", "kernels, prior, posterior, fit", CORE),
    ("space", "named parameters to and from the unit cube", CORE),
    ("domain | ascent", "unit cube, finite sets | batched BFGS", CORE),
    ("journal", "JSON lines that lose nothing", CORE),
    ("store", "files written whole or not at all", CORE),
    ("seeding | options | rules", "random streams | name:option=value | values checked", CORE),
    ("shapes", "axis glossary", CORE),
    ("errors | version", "errors a user can cause | its number", CORE),
]


def box(axes: Axes, x: float, y: float, size: tuple[float, float], text: str, fill: str) -> None:
    """A rounded box with centred text."""
    width, height = size
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0.02,rounding_size=0.08",
            facecolor=fill,
            edgecolor=EDGE,
        )
    )
    axes.text(x, y, text, ha="center", va="center", fontsize=9, color=INK)


def arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str = ""
) -> None:
    """An arrow with a label beside its middle."""
    axes.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=INK, linewidth=1.2)
    )
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    axes.text(
        middle[0], middle[1] + 0.12, text, ha="center", va="bottom", fontsize=8, family="monospace"
    )


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty drawing surface in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return figure, axes


def draw_layers() -> None:
    """Modules from top to bottom: each may import only what is below it."""
    height = 0.46 * len(LAYERS)
    figure, axes = canvas(7.4, height + 0.2)
    for number, (name, what, fill) in enumerate(LAYERS):
        y = height - 0.46 * number - 0.16
        box(axes, 1.55, y, (2.6, 0.32), name, fill)
        axes.text(3.05, y, what, va="center", fontsize=9, color=INK)
    axes.annotate(
        "",
        xy=(7.1, 0.1),
        xytext=(7.1, height),
        arrowprops={"arrowstyle": "-|>", "color": INK},
    )
    axes.text(6.95, height / 2, "may import", rotation=270, va="center", ha="right", fontsize=9)
    figure.savefig(FOLDER / "layers.png", dpi=130)


def draw_step() -> None:
    """One step of data through the loop."""
    figure, axes = canvas(9.6, 3.9)
    top, bottom, size = 2.9, 1.0, (1.65, 0.8)
    box(axes, 1.0, top, size, "BOState\n(GP, t, T)", CORE)
    box(axes, 3.6, top, size, "Searcher\ncandidates", CORE)
    box(axes, 6.2, top, size, "Acquisition\nfunction", CORE)
    box(axes, 8.6, top, (1.5, 0.8), "Candidates\nx, score", CORE)
    box(axes, 8.6, bottom, (1.5, 0.8), "Policy decides\n(Maximize, Sample)", CORE)
    box(axes, 5.0, bottom, size, "Tasks\nf(x), + noise", SHELL)
    box(axes, 1.0, bottom, size, "state.observe\none more row of L⁻¹", CORE)
    arrow(axes, (1.87, top), (2.73, top), "state")
    arrow(axes, (4.47, top), (5.33, top), "Belief\nE N")
    arrow(axes, (7.07, top), (7.81, top), "E N")
    arrow(axes, (8.6, 2.45), (8.6, 1.45))
    axes.text(8.5, 1.95, "E N D", ha="right", va="center", fontsize=8, family="monospace")
    arrow(axes, (7.8, bottom), (5.87, bottom), "query x: E D")
    arrow(axes, (4.13, bottom), (1.87, bottom), "value y: E")
    arrow(axes, (1.0, 1.45), (1.0, 2.45))
    axes.text(1.1, 1.95, "a new state, t + 1", va="center", fontsize=8, family="monospace")
    axes.text(
        5.0, 0.2, "All E episodes of a batch take this step together.", ha="center", fontsize=9
    )
    figure.savefig(FOLDER / "step.png", dpi=130)


if __name__ == "__main__":
    draw_layers()
    draw_step()
