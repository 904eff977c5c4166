"""Explain a learned acquisition function: its beliefs and scores in runs, beside EI's."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from metabo.policies import Maximize, SearchName, searcher
from metabo.pretrained import TrainedAF, load
from metabo.seeding import generator
from metabo.space import Choice, Space
from metabo.tasks import TaskFamily, Tasks
from metabo.tasks import family as family_of


@dataclass(frozen=True)
class Episode:
    """One run, looked at in some of its steps."""

    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Explanation:
    """What an AF does, as data: `strategy_plots` draws it."""

    artifact: str
    where: str
    """The family, or the journal, that the runs are of."""
    space: Space
    """What the coordinates stand for."""
    values: str
    """What the model's values are, in words."""
    episodes: tuple[Episode, ...]
    planes: tuple[Plane, ...]
    """Of the first episode."""

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the coordinates; a `Choice` has one for each of its values."""
        names: list[str] = []
        for name, parameter in self.space.parameters.items():
            if isinstance(parameter, Choice):
                names += [f"{name}={value}" for value in parameter.values]
            else:
                names.append(name)
        return tuple(names)

    @property
    def headline(self) -> str:
        """Which AF is seen where."""
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
    """Let an AF optimize unseen tasks, and look at its beliefs and scores in some steps.

    Args:
        artifact: Name or file of the AF.
        family: Of the tasks; the one that the AF was trained on if None.
        tasks: How many tasks to draw, as `evaluate` draws them.
        seed: Of the tasks and of the random numbers in the episodes.
        budget: Evaluations per episode; what the AF was trained for, or on another family that
            family's own, if None.
        task_file: A JSON list with the parameters of each task, instead of drawn tasks.
        steps: Which steps to look at, numbered from 1, or `all`; the first four and the last if
            None.
        at: Places for which to draw the mean-deviation plane; if None the cube's midpoint and the
            best point of the first episode.
        search: How the AF is maximized.
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
    done = rollout(Maximize(af, found), drawn, setting, seed=seed, budget=budget)
    runs = [
        replay(setting.prior, x, y, budget=budget)
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
    """The steps to look at, checked: the first four and the last if None."""
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
    """At most so many of the steps, the first and the last among them."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(k * (len(steps) - 1) / (most - 1))] for k in range(most)]


def usual_places(decisions: Sequence[Decision]) -> list[Tensor]:
    """The cube's midpoint, and where the run found its best value."""
    last = decisions[-1]
    x, y = last.state.history.x[0], last.state.history.y[0]
    best = x[y.argmax()] if len(y) and not last.value > float(y.max()) else last.query
    return [torch.full_like(best, 0.5), best]


def require_fit(af: TrainedAF, artifact: str, dim: int, where: str) -> None:
    """Raise unless the AF can score points of so many dimensions."""
    shape = af.architecture
    if not shape.is_for_any_dimension and shape.dim != dim:
        raise ShapeError(
            f"The artifact `{artifact}` was trained for points of {shape.dim} dimensions, but "
            f"{where} has {dim}. Give one that fits."
        )


def _setting(af: TrainedAF, artifact: str, family: str | None) -> TaskFamily:
    name = family or af.card.get("family")
    if not isinstance(name, str):
        raise OptionError(
            f"The card of `{artifact}` names no family of tasks to show it on. Give `--family`."
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
    for name, value, most in (("tasks", tasks, 20), ("budget", budget, 10_000)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise OptionError(f"`{name}` must be a whole number in 1..{most}, but got {value}.")


def place(point: Sequence[float], dim: int) -> Tensor:
    """A point of the cube, checked."""
    x = torch.tensor(list(point), dtype=torch.float64)
    require_dim(x, dim)
    require_inside(x)
    return x


def _alone(tasks: Tasks, number: int) -> Truth:
    one = tasks.take(torch.tensor([number]))
    return lambda x: one(x[None])[0]
