"""Draw the two pictures of architecture.md.

python docs/pictures.py
"""

import tomllib
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

FOLDER = Path(__file__).parent / "images"
INK, CORE, EDGE, SHELL = "#1b1b1b", "#d6e6f4", "#0072B2", "#fbe3cf"

WHAT = {
    "cli": "the command line: tables, progress bars",
    "paper": "experiments, claims and the report",
    "explain": "pictures of what an AF does",
    "integrations": "BoTorch, Optuna, Ax",
    "evaluation": "methods by name, evaluate, cross-validate",
    "training": "PPO, trainer, checkpoints",
    "optimizer": "RunSettings, ask and tell",
    "pretrained": "artifacts: weights and card",
    "loop": "rollout: E episodes in lockstep",
    "metrics": "regret, quantiles, steps to a threshold",
    "policies": "search the AF, decide the query",
    "sources": "data of source tasks",
    "acquisition": "score a Belief (EI, TAF, neural)",
    "tasks": "functions to optimize",
    "state": "Belief, BOState",
    "gp": "kernels, prior, posterior, fit",
    "space": "named parameters to and from the unit cube",
    "domain": "unit cube, finite sets",
    "ascent": "batched BFGS",
    "journal": "JSON lines that lose nothing",
    "store": "files written whole or not at all",
    "seeding": "random streams",
    "options": "name:option=value",
    "rules": "what a value must be",
    "devices": "CPU, CUDA",
    "inputs": "reading files",
    "digest": "hashes",
    "choices": "names to choose from",
    "shapes": "the axes in signatures",
    "errors": "mistakes of a user",
    "version": "the package's version",
}
"""What a module is for; one that is not named here is left out of the picture."""
SHELLS = ("cli", "paper", "explain", "integrations", "evaluation")
"""Packages that may import more than torch, numpy and safetensors."""


def layers() -> list[list[str]]:
    """The modules in the picture from top to bottom, as import-linter checks them."""
    project = tomllib.loads((FOLDER.parent.parent / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    found = next(c["layers"] for c in contracts if c["type"] == "layers")
    named = ([n for n in layer.split(" | ") if n in WHAT] for layer in found)
    return [names for names in named if names]


def lines(words: list[str], most: int = 4) -> str:
    """Words separated by `|`, with a limit of words per line."""
    cut = [words[i : i + most] for i in range(0, len(words), most)]
    return "\n".join(" | ".join(some) for some in cut)


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
    drawn = layers()
    rows = [-(-len(names) // 4) for names in drawn]
    height = sum(0.22 + 0.24 * n for n in rows)
    figure, axes = canvas(8.4, height + 0.2)
    top = height + 0.1
    for names, n in zip(drawn, rows, strict=True):
        middle = top - 0.11 - 0.12 * n
        fill = SHELL if names[0] in SHELLS else CORE
        box(axes, 1.65, middle, (2.9, 0.08 + 0.24 * n), lines(names), fill)
        what = lines([WHAT[name] for name in names])
        axes.text(3.3, middle, what, va="center", fontsize=9, color=INK)
        top -= 0.22 + 0.24 * n
    axes.annotate(
        "",
        xy=(8.2, 0.1),
        xytext=(8.2, height),
        arrowprops={"arrowstyle": "-|>", "color": INK},
    )
    axes.text(8.05, height / 2, "may import", rotation=270, va="center", ha="right", fontsize=9)
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
