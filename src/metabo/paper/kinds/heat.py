"""Generalization: benchmark functions translated and scaled beyond the training range.

A cell is a range of magnitudes of the translation and a range of scales. The sign of each
coordinate is drawn, and flipped if it would move the optimum out of the cube. Because no magnitude
exceeds one half, one of the two signs always keeps the optimum inside.
"""

import numpy as np
import torch
from torch import Tensor

from metabo.domain import sobol
from metabo.errors import OptionError
from metabo.evaluation.methods import method
from metabo.evaluation.numbers import fixed, rounded, rounded_row, significant
from metabo.evaluation.setting import Setting
from metabo.evaluation.table import NOTHING, Column, Table, names
from metabo.loop import rollout
from metabo.metrics import quantiles, steps_to
from metabo.paper.job import Job
from metabo.paper.kinds.kind import Kind, Picture
from metabo.paper.results import Record, Stored
from metabo.policies import searcher
from metabo.seeding import generator
from metabo.shapes import Float
from metabo.tasks import family as family_of
from metabo.tasks.synthetic import BRANIN, GOLDSTEIN_PRICE, HARTMANN_3, Surface, TranslatedTasks

TRANSLATIONS = tuple(round(0.05 * i, 2) for i in range(11))
"""Edges of the ranges of each coordinate's magnitude; training had 0 to 0.1."""
SCALES = tuple(round(0.1 + 0.2 * i, 1) for i in range(11))
"""Edges of the ranges of the scale; training had 0.9 to 1.1."""
SURFACES = {surface.name: surface for surface in (BRANIN, GOLDSTEIN_PRICE, HARTMANN_3)}
_GRID, _PERCENT = 2**20, 0.01
"""Number of Sobol points that the threshold is computed from, and the share below it."""
_AT_ONCE = 1000
"""Number of episodes in lockstep on a CPU; ten times as many on a GPU."""


def run(job: Job) -> Record:
    """Steps until the median regret of each cell is at the threshold; 0 if it never is."""
    unit = job.unit
    if unit.family not in SURFACES:
        raise OptionError(
            f"Generalization is mapped on {', '.join(SURFACES)}, but got `{unit.family}`."
        )
    surface, family = SURFACES[unit.family], family_of(unit.family)
    policy = method(unit.method, Setting(family, searcher(unit.search, family.domain), job.device))
    limit = threshold(surface)
    cells = [(row, column) for row in range(len(SCALES) - 1) for column in range(_N_COLUMNS)]
    drawn = [cell_tasks(surface, *cell, unit.tasks, unit.seed) for cell in cells]
    whole = TranslatedTasks(
        surface,
        torch.cat([tasks.translation for tasks in drawn]),
        torch.cat([tasks.scale for tasks in drawn]),
    )
    n_at_once = _AT_ONCE if job.device == "cpu" else 10 * _AT_ONCE
    batches = torch.arange(len(whole.scale)).split(n_at_once)
    regret = []
    for number, index in enumerate(batches):

        def on_step(step: int, _: object, number: int = number) -> None:
            job.on_step(number * unit.budget + step, len(batches) * unit.budget)

        tasks = whole.take(index).to(job.device)
        done = rollout(
            policy,
            tasks,
            family,
            seed=unit.seed,
            budget=unit.budget,
            episodes=index,
            on_step=on_step,
        )
        regret.append(done.regret.cpu())
    per_cell = torch.cat(regret).unflatten(0, (len(cells), unit.tasks))
    medians = torch.stack([quantiles(cell, [0.5])[0] for cell in per_cell])
    steps = steps_to(medians, limit)
    steps[steps > unit.budget] = 0
    return {
        "threshold": rounded(limit),
        "translations": list(TRANSLATIONS),
        "scales": list(SCALES),
        "steps": steps.unflatten(0, (-1, _N_COLUMNS)).tolist(),
        "final": rounded_row(medians[:, -1]),
    }


def tables(stored: Stored) -> list[Table]:
    """Tabulate how many cells are reached, and the steps in the two that training covered."""
    size, rows = stored.size, []
    for family in stored.experiment.families:
        for name in stored.experiment.methods:
            result = stored.result(family, name)
            rows.append((family, name, *_summary(result, size.budget)))
    title = (
        f"Steps until the median regret over {size.tasks} tasks of a cell is at the threshold: "
        "the regret of the best 1 % of a Sobol grid"
    )
    columns = [
        *names("family", "method"),
        Column("threshold"),
        Column("cells reached"),
        Column("median steps"),
        Column("trained cells"),
    ]
    return [Table.of(title, columns, rows)]


def figure(stored: Stored) -> Picture:
    """Steps by translation and scale: a column per family, a row per method."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    from metabo.evaluation.plots import COLOURS, entitle

    methods, families = stored.experiment.methods, stored.experiment.families
    size = (4.2 * len(families), 3.7 * len(methods))
    figure = Figure(figsize=size, layout="constrained", dpi=120)
    panels = figure.subplots(len(methods), len(families), squeeze=False)
    image = None
    for row, name in enumerate(methods):
        for column, family in enumerate(families):
            axes = panels[row, column]
            axes.set_title(f"{family}: {name}", fontsize=10)
            result = stored.result(family, name)
            if result is None:
                axes.text(0.5, 0.5, "not run", ha="center", transform=axes.transAxes)
                continue
            steps = np.array(result["steps"], dtype=float)
            steps[steps == 0] = np.nan
            x, y = np.array(result["translations"]), np.array(result["scales"])
            image = axes.pcolormesh(x, y, steps, cmap="viridis", vmin=1, vmax=stored.size.budget)
            axes.add_patch(
                Rectangle((0, 0.9), 0.1, 0.2, fill=False, edgecolor=COLOURS[1], linewidth=2)
            )
            axes.set_xlabel("translation of each coordinate, magnitude")
            axes.set_ylabel("scale")
    if image is not None:
        figure.colorbar(image, ax=panels, label="steps (white: not reached)", shrink=0.8)
    entitle(figure, stored.experiment.title)
    return figure


def threshold(surface: Surface) -> float:
    """The regret that one in a hundred Sobol points of the original function has at most."""
    regret = surface.maximum - surface.function(sobol(_GRID, surface.dim))
    return float(regret.kthvalue(int(_PERCENT * _GRID)).values)


def cell_tasks(surface: Surface, row: int, column: int, n: int, seed: int) -> TranslatedTasks:
    """Tasks of the cell with these numbers: its range of scales, its range of translations."""
    source = generator(seed, f"generalization {row} {column}")
    unit = torch.rand(n, 2 * surface.dim + 1, generator=source, dtype=torch.float64)
    magnitude = _between(unit[:, : surface.dim], TRANSLATIONS[column : column + 2])
    optimum = torch.tensor(surface.argmax, dtype=torch.float64)
    translation = torch.where(unit[:, surface.dim : -1] < 0.5, -magnitude, magnitude)
    moved = optimum + translation
    translation = torch.where((moved < 0) | (moved > 1), -translation, translation)
    scale = _between(unit[:, -1:], SCALES[row : row + 2])[:, 0]
    return TranslatedTasks(surface, translation, scale)


def _summary(result: Record | None, budget: int) -> list[str]:
    if result is None:
        return [NOTHING] * 4
    steps = torch.tensor(result["steps"])
    seen = steps[result["scales"].index(0.9), :2].tolist()
    reached = steps[steps > 0]
    return [
        significant(result["threshold"]),
        f"{len(reached)} of {steps.numel()}",
        fixed(float(reached.double().median()), 0) if len(reached) else NOTHING,
        ", ".join(str(n or f"more than {budget}") for n in seen),
    ]


def _between(unit: Float[Tensor, "n p"], ends: tuple[float, ...]) -> Float[Tensor, "n p"]:
    low, high = ends
    return low + unit * (high - low)


_N_COLUMNS = len(TRANSLATIONS) - 1
KIND = Kind("heat", run, tables, figure, per="in each cell")
