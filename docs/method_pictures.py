"""Draw the picture of method.md.

python docs/method_pictures.py
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from pictures import CORE, EDGE, FOLDER, INK, SHELL

VERMILION, GREEN = "#D55E00", "#009E73"


def node(axes: Axes, x: float, y: float, text: str, fill: str = CORE, width: float = 1.9) -> None:
    """A rounded box of one or two lines around its centre."""
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - 0.27),
            width,
            0.54,
            boxstyle="round,pad=0.02,rounding_size=0.08",
            facecolor=fill,
            edgecolor=EDGE,
        )
    )
    axes.text(x, y, text, ha="center", va="center", fontsize=8.5, color=INK)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A straight arrow, from edge to edge."""
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=12, color=INK, shrinkA=0, shrinkB=0
        )
    )


def note(
    axes: Axes, x: float, y: float, text: str, *, ha: str = "center", style: str = "normal"
) -> None:
    """A few words beside an arrow."""
    axes.text(x, y, text, fontsize=8, color=INK, va="center", ha=ha, style=style)


def panel(axes: Axes, title: str, width: float, height: float) -> None:
    """An empty panel in units of about an inch."""
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_title(title, fontsize=10)
    axes.axis("off")


def back(axes: Axes, start: tuple[float, float], left: float, end: tuple[float, float]) -> None:
    """An arrow that leaves to the left, goes up, and comes back."""
    axes.plot(
        [start[0], left, left, end[0]],
        [start[1], start[1], end[1], end[1]],
        color=INK,
        linewidth=1,
    )
    arrow(axes, (end[0] - 0.15, end[1]), end)


def training(axes: Axes) -> None:
    """The outer loop of PPO around the inner loop of episodes."""
    panel(axes, "Training: PPO over whole runs", 5.0, 5)
    axes.add_patch(
        FancyBboxPatch(
            (0.45, 1.35),
            4.4,
            2.7,
            boxstyle="round,pad=0.02,rounding_size=0.1",
            facecolor="none",
            edgecolor="#888888",
            linestyle="--",
        )
    )
    node(axes, 2.65, 4.5, r"policy Sample($\alpha_\theta$) with weights $\theta_i$", width=3.2)
    node(axes, 2.65, 3.62, "draw a task f of the family, a budget T", SHELL, width=3.6)
    node(axes, 1.55, 2.72, "candidates $\\xi_t$,\nquery $x_t \\sim \\pi(\\cdot | s_t)$")
    node(axes, 3.75, 2.72, "observe $y_t = f(x_t)$,\nreward $r_t$", SHELL)
    node(axes, 2.65, 1.75, "condition the GP:\nstate $s_{t+1}$")
    node(axes, 2.65, 0.5, r"PPO: $\theta_i \rightarrow \theta_{i+1}$", width=2.4)
    arrow(axes, (2.65, 4.21), (2.65, 3.91))
    arrow(axes, (1.8, 3.33), (1.7, 3.01))
    arrow(axes, (2.52, 2.72), (2.78, 2.72))
    arrow(axes, (3.7, 2.43), (3.4, 2.04))
    arrow(axes, (1.9, 2.04), (1.6, 2.43))
    arrow(axes, (2.65, 1.46), (2.65, 0.8))
    note(axes, 2.75, 1.12, "a batch of $(s_t, x_t, r_t)$", ha="left")
    back(axes, (1.43, 0.5), 0.15, (1.03, 4.5))
    note(axes, 0.6, 1.6, "for t = 1 ... T", ha="left", style="italic")


def optimization(axes: Axes) -> None:
    """The classical loop, with the AF replaced."""
    panel(axes, "Use: the classical BO loop", 3.6, 5)
    node(axes, 1.95, 4.5, "GP posterior given $H_t$:\n$\\mu_t(x), \\sigma_t(x)$", width=2.3)
    node(
        axes,
        1.95,
        3.3,
        "neural AF\n$\\alpha_\\theta[\\mu_t(x), \\sigma_t(x), x, t, T]$",
        width=2.6,
    )
    node(axes, 1.95, 2.1, r"$x_t = \mathrm{argmax}\ \alpha_\theta$", width=2.3)
    node(axes, 1.95, 0.9, "evaluate f:\n$H_{t+1} = H_t \\cup \\{(x_t, y_t)\\}$", SHELL, width=2.4)
    for top in (4.21, 3.01, 1.81):
        arrow(axes, (1.95, top), (1.95, top - 0.62))
    back(axes, (0.73, 0.9), 0.3, (0.78, 4.5))
    note(axes, 1.95, 0.3, "only the AF is learned", style="italic")


def candidates(figure: Figure, cell: SubplotSpec) -> None:
    """An AF on a line, the points it is evaluated at, and the distribution over them."""
    grid = cell.subgridspec(2, 1, height_ratios=[1.5, 1], hspace=0.12)
    (upper,), (lower,) = grid.subplots(sharex=True, squeeze=False)
    x = np.linspace(0, 1, 400)

    def af(x: np.ndarray) -> np.ndarray:
        return 3 * np.exp(-(((x - 0.72) / 0.09) ** 2)) + 2 * np.exp(-(((x - 0.25) / 0.16) ** 2))

    coarse = (np.arange(16) + 0.5) / 16
    local = np.array([0.247, 0.719])
    points = np.concatenate([coarse, local])
    probability = np.exp(af(points))
    probability /= probability.sum()
    upper.plot(
        x,
        af(x),
        color=GREEN,
        linestyle=":",
        linewidth=1.8,
        label=r"$\alpha_\theta(x)$, defined everywhere",
    )
    upper.plot(
        coarse,
        af(coarse),
        "o",
        color=EDGE,
        markersize=4.5,
        label=r"$\xi_\mathrm{global}$: a fixed grid",
    )
    upper.plot(
        local,
        af(local),
        "D",
        color=VERMILION,
        markersize=5.5,
        label=r"$\xi_{\mathrm{local},t}$: its maxima",
    )
    upper.set_ylim(-0.3, 5.3)
    upper.set_yticks([])
    upper.set_ylabel("score (logit)", fontsize=8.5)
    upper.legend(frameon=False, fontsize=7.5, loc="upper left")
    upper.set_title("Candidate set: scores as logits", fontsize=10)
    lower.bar(coarse, probability[:16], width=0.018, color=EDGE)
    lower.bar(local, probability[16:], width=0.018, color=VERMILION)
    lower.set_yticks([])
    lower.set_ylabel(r"$\pi(x | s_t)$", fontsize=8.5)
    lower.set_xticks([0, 1])
    lower.set_xlabel("x in the unit cube", fontsize=8.5)
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)


def draw_method() -> None:
    """The three levels of the method side by side."""
    figure = Figure(figsize=(11.4, 4.5), layout="constrained")
    grid = figure.add_gridspec(1, 3, width_ratios=[4.4, 3.4, 3.6])
    training(figure.add_subplot(grid[0]))
    optimization(figure.add_subplot(grid[1]))
    candidates(figure, grid[2])
    figure.savefig(FOLDER / "method.png", dpi=110)


if __name__ == "__main__":
    draw_method()
