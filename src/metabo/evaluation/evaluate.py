"""Run methods on the same test tasks and keep what happened."""

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy
import torch
from torch import Tensor

from metabo.devices import require_device
from metabo.errors import DataError, OptionError, brief, shown, unknown
from metabo.evaluation.methods import identity, method
from metabo.evaluation.setting import HYPERPARAMETERS, Hyperparameters, Setting
from metabo.inputs import read_json
from metabo.loop import rollout
from metabo.metrics import quantiles
from metabo.options import parse
from metabo.policies import CLASSICAL, SEARCHES, Policy, Refitted, SearchName, searcher
from metabo.seeding import generator
from metabo.shapes import Float
from metabo.tasks import TaskFamily, Tasks
from metabo.tasks import family as family_of
from metabo.version import __version__, commit

STREAMS = ("test tasks", "validation tasks")
Progress = Callable[[str, int, int], None]
"""Told after each step: the method, the steps done and the budget."""


@dataclass(frozen=True)
class MethodResult:
    """How one method did on all tasks."""

    regret: Float[Tensor, "E T"]
    queries: Float[Tensor, "E T D"]
    seconds_per_episode: float
    """Wall-clock seconds of the lockstep run divided by its episodes."""
    identity: dict[str, str]
    """All options, given or not, and a hash of the artifact where there is one."""

    def record(self) -> dict[str, object]:
        """As stored in `results.json`."""
        q30, median, q70 = quantiles(self.regret, [0.3, 0.5, 0.7])
        return {
            "median": median.tolist(),
            "q30": q30.tolist(),
            "q70": q70.tolist(),
            "mean": self.regret.mean(0).tolist(),
            "regret": self.regret.tolist(),
            "queries": self.queries.tolist(),
            "seconds_per_episode": self.seconds_per_episode,
            "identity": self.identity,
        }


@dataclass(frozen=True)
class Evaluation:
    """The outcome of `evaluate`."""

    family: str
    budget: int
    tasks: int
    seed: int
    device: str
    search: str
    hyperparameters: Hyperparameters
    stream: str
    task_file: str | None
    """Name of the file that gave the tasks; None where they were drawn from the stream."""
    methods: dict[str, MethodResult]

    def record(self) -> dict[str, object]:
        """As stored in `results.json`."""
        head = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "methods"}
        results = {name: result.record() for name, result in self.methods.items()}
        return {**head, "versions": versions(), "commit": commit(), "methods": results}


def versions() -> dict[str, str]:
    """Of all that results depend on."""
    return {
        "metabo": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }


def evaluate(
    family: str,
    *,
    methods: Sequence[str] = ("ei", "random"),
    tasks: int | None = None,
    seed: int = 0,
    budget: int | None = None,
    task_file: str | Path | None = None,
    artifact: str | Path | None = None,
    search: SearchName = "gradient",
    hyperparameters: Hyperparameters = "known",
    device: str = "cpu",
    stream: str = "test tasks",
    on_progress: Progress | None = None,
) -> Evaluation:
    """Run each method on the same tasks, all episodes of a method in lockstep.

    Args:
        family: Its name, such as `branin` or `branin:noise=0.1`.
        methods: Methods, such as `ei` or `ucb:beta=9`.
        tasks: How many tasks to draw; they depend on the seed alone and never occur in training.
            100 if None, or all where a family has fewer.
        seed: Of the tasks and of the random numbers in the episodes.
        budget: Evaluations per episode; the family's own if None.
        task_file: A JSON list with the parameters of each task, instead of drawn tasks.
        artifact: Name or file of the AF that the method `metabo` uses; the family's own if None.
            The other methods have no use for it.
        search: How acquisition functions are maximized on the unit cube: `gradient`, `grid` or
            `sobol`.
        hyperparameters: Of the GP: `known`, those of the family or of each task; or `fitted`
            during the run to standardized values, as for a user who knows none.
        device: `cpu` or `cuda`.
        stream: Of the random numbers that tasks are drawn from: to choose parameters, take
            `validation tasks`.
        on_progress: Called after each step of each method.
    """
    setting = family_of(family)
    part = setting.test() if stream == "test tasks" else setting.validation()
    if part is None:
        raise OptionError(f"Family `{family}` has no validation tasks. Keep some apart.")
    tasks = min(100, part.n_tasks or 100) if tasks is None else tasks
    budget = setting.budget if budget is None else budget
    _check(methods, tasks=tasks, budget=budget, search=search, device=device, stream=stream)
    if hyperparameters not in HYPERPARAMETERS:
        raise unknown("value of `hyperparameters`", hyperparameters, HYPERPARAMETERS)
    if artifact is not None and "metabo" not in [parse(m)[0] for m in methods]:
        raise OptionError(
            f"The artifact `{artifact}` is for the method `metabo`, which is not among the "
            f"methods {', '.join(f'`{m.strip()}`' for m in methods)}. Add it, or give no artifact."
        )
    # Every mistake in a method's name or options comes to light before the first run.
    built_for = Setting(
        setting,
        searcher(search, setting.domain, repeats=setting.noise > 0),
        device,
        None if artifact is None else str(artifact),
    )
    policies = {m.strip(): method(m, built_for) for m in methods}
    if hyperparameters == "fitted":
        policies = {name: _refitted(name, policy) for name, policy in policies.items()}
    drawn = (
        part.sample(tasks, generator(seed, stream))
        if task_file is None
        else read_tasks(setting, Path(task_file))
    ).to(device)
    results = {}
    for label, policy in policies.items():

        def on_step(step: int, _: object, label: str = label) -> None:
            if on_progress is not None:
                on_progress(label, step, budget)

        start = time.perf_counter()
        episodes = rollout(policy, drawn, setting, seed=seed, budget=budget, on_step=on_step)
        regret = episodes.regret.cpu()  # waits for the device
        seconds = (time.perf_counter() - start) / len(regret)
        known_as = identity(label, setting.name, built_for.artifact)
        results[label] = MethodResult(regret, episodes.queries.cpu(), seconds, known_as)
    return Evaluation(
        family,
        budget,
        len(drawn.optimum),
        seed,
        device,
        search,
        hyperparameters,
        stream,
        None if task_file is None else Path(task_file).name,
        results,
    )


def _refitted(name: str, policy: Policy) -> Policy:
    """The policy with a fitted GP, where it has one that knows of no other data."""
    base = parse(name)[0]
    if base == "random":
        return policy
    if base not in (*CLASSICAL, "metabo", "metabo-50"):
        raise OptionError(
            f"The method `{name}` compares values with those of source tasks, which a GP fitted "
            "to standardized values does not see. Evaluate it with known hyperparameters."
        )
    return Refitted(policy)


def read_tasks(setting: TaskFamily, path: Path) -> Tasks:
    """The tasks of a file; its name is in every complaint."""
    records = read_json(path, "task file")
    if not isinstance(records, list):
        raise DataError(
            f"The task file `{shown(path)}` must hold a list with one object per task, but has "
            f"{brief(records)}."
        )
    try:
        return setting.read(records)
    except DataError as error:
        raise DataError(f"In the task file `{shown(path)}`: {error}") from None


def require_methods(methods: Sequence[str]) -> None:
    """Raise unless it is a list of different names."""
    if isinstance(methods, str) or not methods or not all(isinstance(m, str) for m in methods):
        raise OptionError(
            f"`methods` must be a list with at least one name, but got {brief(methods)}."
        )
    if len({m.strip() for m in methods}) < len(methods):
        raise OptionError(f"Each method can be given once, but got {brief(list(methods))}.")


def _check(
    methods: Sequence[str], *, tasks: int, budget: int, search: str, device: str, stream: str
) -> None:
    require_methods(methods)
    for name, value, most in (("tasks", tasks, 1_000_000), ("budget", budget, 10_000)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise OptionError(
                f"`{name}` must be a whole number in 1..{most}, but got {brief(value)}."
            )
    if search not in SEARCHES:
        raise unknown("search", search, SEARCHES)
    if stream not in STREAMS:
        raise unknown("stream", stream, STREAMS)
    require_device(device)
