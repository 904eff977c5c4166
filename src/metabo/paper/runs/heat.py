"""Generalization: benchmark functions translated and scaled beyond the training range.

A cell is a range of magnitudes of the translation and a range of scales. A coordinate's sign is
drawn; where it would move the optimum out of the cube, the other is taken. As no magnitude is
above one half, one of the two always keeps it inside.
"""

import torch
from torch import Tensor

from metabo.domain import sobol
from metabo.errors import OptionError
from metabo.evaluation.methods import method
from metabo.evaluation.setting import Setting
from metabo.loop import rollout
from metabo.metrics import quantiles, steps_to
from metabo.paper.runs.job import Job, Record, short
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
"""Points, as a Sobol sequence has them: a million and a few."""
_AT_ONCE = 1000
"""Episodes in lockstep on a CPU; ten times as many elsewhere."""


def heat(job: Job) -> Record:
    """Steps until the median regret of each cell is at the threshold; 0 where it never is."""
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
        "threshold": short(limit),
        "translations": list(TRANSLATIONS),
        "scales": list(SCALES),
        "steps": steps.unflatten(0, (-1, _N_COLUMNS)).tolist(),
        "final": [short(v) for v in medians[:, -1].tolist()],
    }


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


def _between(unit: Float[Tensor, "n p"], ends: tuple[float, ...]) -> Float[Tensor, "n p"]:
    low, high = ends
    return low + unit * (high - low)


_N_COLUMNS = len(TRANSLATIONS) - 1
