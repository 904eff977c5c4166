"""Explanation of a learned AF on tasks: its beliefs and scores in runs, compared with EI."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from metabo.domain import require_dim, require_inside
from metabo.errors import OptionError, ShapeError
from metabo.evaluation.evaluate import read_tasks
from metabo.explain.plane import Plane, planes
from metabo.explain.trace import Decision, Step, Truth, replay, trace
from metabo.loop import rollout
from metabo.policies import Maximize, SearchName, informed, searcher
from metabo.pretrained import TrainedAF, load
from metabo.rules import BUDGET, whole
from metabo.seeding import generator
from metabo.space import Choice, Space
from metabo.tasks import TaskFamily, Tasks
from metabo.tasks import family as family_of


@dataclass(frozen=True)
class Episode:
    """One run, shown at some of its steps."""

    title: str
    """Title of the run in pictures."""
    steps: tuple[Step, ...]
    """Steps that are shown."""


@dataclass(frozen=True)
class Explanation:
    """Beliefs, scores and decisions of an AF as data; `explain.curves.pictures` draws them."""

    artifact: str
    """Name or file of the AF."""
    where: str
    """Family or journal that the runs come from."""
    space: Space
    """Parameters that the coordinates encode."""
    values: str
    """Label of the model's values, such as "value, scaled"."""
    episodes: tuple[Episode, ...]
    """Runs that are shown."""
    planes: tuple[Plane, ...]
    """Mean-deviation planes of the first episode."""

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the coordinates; a `Choice` has one per value."""
        names: list[str] = []
        for name, parameter in self.space.parameters.items():
            if isinstance(parameter, Choice):
                names += [f"{name}={value}" for value in parameter.values]
            else:
                names.append(name)
        return tuple(names)

    @property
    def headline(self) -> str:
        """Short title that names the AF and the family or journal."""
        name = Path(self.artifact).stem
        return self.where if name == self.where else f"{name} on {self.where}"


def explain(
    artifact: str | Path,
    *,
    family: str | None = None,
    tasks: int = 3,
    seed: int = 0,
    budget: int | None = None,
    task_file: str | Path | None = None,
    steps: Sequence[int] | Literal["all"] | None = None,
    at: Sequence[Sequence[float]] | None = None,
    search: SearchName = "gradient",
) -> Explanation:
    """Let an AF optimize unseen tasks, and record its beliefs and scores at some steps.

    Args:
        artifact: Name or file of the AF.
        family: Family of the tasks; the one that the AF was trained on if None.
        tasks: Number of tasks to draw, in the same way as `evaluate`.
        seed: Random seed of the tasks and of the episodes.
        budget: Evaluations per episode. If None, what the AF was trained for, or on another family
            that family's own.
        task_file: JSON list with the parameters of each task, instead of drawn tasks.
        steps: Steps to show, numbered from 1, or `all`; the first four and the last if None.
        at: Points of the unit cube at which to draw the mean-deviation plane; its midpoint and the
            best point of the first episode if None.
        search: How the AF is maximized: `gradient`, `grid` or `sobol`.

    Returns:
        Beliefs and scores at each step, as data.

    Raises:
        OptionError: If an option is out of range, or the AF's card names no family.
        ShapeError: If the AF was trained for another dimension than the family's.
        DataError: If the artifact or task file cannot be read.

    Examples:
        >>> explanation = explain("branin", tasks=1, budget=2, steps=[1])
        >>> explanation.headline, explanation.axes
        ('branin', ('x1', 'x2'))
    """
    af = load(artifact)
    setting = _setting(af, str(artifact), family)
    budget = _budget(af, setting, given=budget, is_own=family is None)
    _require_counts(tasks, budget)
    chosen = chosen_steps(steps, budget)
    places = None if at is None else [place(point, setting.domain.dim) for point in at]
    if task_file is None:
        drawn, kind = setting.sample(tasks, generator(seed, "test tasks")), "test task"
    else:
        drawn, kind = read_tasks(setting, Path(task_file)), f"{Path(task_file).name}, task"
    found, space = searcher(search, setting.domain), setting.space
    prior = replace(setting.prior, learned=af.learned_part)
    policy = informed(Maximize(af, found), af.learned_part)
    done = rollout(policy, drawn, setting, seed=seed, budget=budget)
    runs = [
        replay(prior, x, y, budget=budget)
        for x, y in zip(done.queries, done.observed, strict=True)
    ]
    episodes = tuple(
        Episode(
            f"{kind} {number + 1}",
            trace(
                af,
                decisions,
                domain=setting.domain,
                search=found,
                space=space,
                steps=chosen,
                truth=_alone(drawn, number),
            ),
        )
        for number, decisions in enumerate(runs)
    )
    return Explanation(
        artifact=str(artifact),
        where=family or setting.name,
        space=space,
        values="value",
        episodes=episodes,
        planes=planes(af, runs[0], steps=spread(chosen), at=places or usual_places(runs[0])),
    )


def chosen_steps(steps: Sequence[int] | Literal["all"] | None, n_done: int) -> list[int]:
    """Return the steps to show, checked; the first four and the last if None."""
    if steps is None:
        return sorted({*range(1, min(4, n_done) + 1), n_done})
    if steps == "all":
        return list(range(1, n_done + 1))
    if not steps or not all(isinstance(t, int) and 1 <= t <= n_done for t in steps):
        raise OptionError(
            f"`steps` must be whole numbers in 1..{n_done} (the evaluations of the run), at least "
            f"one, but got {list(steps)}."
        )
    return sorted(set(steps))


def spread(steps: Sequence[int], most: int = 6) -> list[int]:
    """Return at most `most` of the steps, including the first and the last."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(k * (len(steps) - 1) / (most - 1))] for k in range(most)]


def usual_places(decisions: Sequence[Decision]) -> list[Tensor]:
    """Return the midpoint of the cube, and the point where the run found its best value."""
    last = decisions[-1]
    x, y = last.state.history.x[0], last.state.history.y[0]
    best = x[y.argmax()] if len(y) and not last.value > float(y.max()) else last.query
    return [torch.full_like(best, 0.5), best]


def require_fit(af: TrainedAF, artifact: str, dim: int, where: str) -> None:
    """Raise `ShapeError` unless the AF can score points of `dim` dimensions."""
    shape = af.architecture
    if not shape.is_for_any_dimension and shape.dim != dim:
        raise ShapeError(
            f"The artifact `{artifact}` was trained for points of {shape.dim} dimensions, but "
            f"{where} has {dim}. Choose an artifact for {dim} dimensions."
        )


def _setting(af: TrainedAF, artifact: str, family: str | None) -> TaskFamily:
    name = family or af.card.get("family")
    if not isinstance(name, str):
        raise OptionError(
            f"The card of `{artifact}` names no family of tasks to show it on. Pass `--family`."
        )
    setting = family_of(name)
    require_fit(af, artifact, setting.domain.dim, f"family `{name}`")
    return setting


def _budget(af: TrainedAF, setting: TaskFamily, *, given: int | None, is_own: bool) -> int:
    if given is not None:
        return given
    trained = af.card.get("budget")
    if is_own and isinstance(trained, list) and trained and isinstance(trained[-1], int):
        return trained[-1]
    return setting.budget


def _require_counts(tasks: int, budget: int) -> None:
    # Each episode becomes a picture or a column of one.
    whole(1, 20).require("tasks", tasks)
    BUDGET.require("budget", budget)


def place(point: Sequence[float], dim: int) -> Tensor:
    """Return a point of the unit cube as a tensor, checked."""
    x = torch.tensor(list(point), dtype=torch.float64)
    require_dim(x, dim)
    require_inside(x)
    return x


def _alone(tasks: Tasks, number: int) -> Truth:
    one = tasks.take(torch.tensor([number]))
    return lambda x: one(x[None])[0]
