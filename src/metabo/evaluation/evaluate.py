"""Evaluation of methods on the same test tasks."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import torch

from metabo.devices import require_device
from metabo.errors import DataError, OptionError, brief, shown, unknown
from metabo.evaluation.methods import Method, resolved
from metabo.evaluation.results import Evaluation, MethodResult
from metabo.evaluation.setting import HYPERPARAMETERS, Hyperparameters, Setting
from metabo.inputs import read_json
from metabo.loop import rollout
from metabo.options import parse
from metabo.policies import CLASSICAL, SEARCHES, Policy, Refitted, SearchName, searcher
from metabo.pretrained import TrainedAF
from metabo.rules import BUDGET, MAX_COUNT, whole
from metabo.seeding import generator
from metabo.tasks import TaskFamily, Tasks, named

STREAMS = ("test tasks", "validation tasks")
AT_ONCE = 1000
"""Number of episodes in lockstep on a CPU; a GPU, which needs more to be busy, takes ten times as
many. Memory grows with the number; results do not depend on it."""
Progress = Callable[[str, int, int], None]
"""Called after each step with the method, the steps done and the steps in total."""


def evaluate(
    family: str | TaskFamily,
    *,
    methods: Sequence[str] = ("ei", "random"),
    tasks: int | None = None,
    seed: int = 0,
    budget: int | None = None,
    task_file: str | Path | None = None,
    artifact: str | Path | TrainedAF | None = None,
    search: SearchName = "gradient",
    hyperparameters: Hyperparameters = "known",
    device: str = "cpu",
    stream: str = "test tasks",
    on_progress: Progress | None = None,
    label: str | None = None,
) -> Evaluation:
    """Run each method on the same tasks, many episodes of a method in lockstep.

    Args:
        family: The tasks: a name, such as `branin` or `branin:noise=0.1`, or a family itself.
        methods: Names of methods, such as `ei` or `ucb:beta=9`.
        tasks: Number of tasks to draw; they depend on the seed alone and never occur in training.
            100 if None, or all where a family has fewer.
        seed: Random seed for the tasks and for the random numbers in the episodes.
        budget: Evaluations per episode; the family's own if None.
        task_file: A JSON list with the parameters of each task, instead of drawn tasks.
        artifact: The AF that the method `metabo` uses, or its name or file; the family's own if
            None. Other methods ignore it.
        search: How acquisition functions are maximized on the unit cube: `gradient`, `grid` or
            `sobol`.
        hyperparameters: Hyperparameters of the GP: `known`, those of the family or of each task;
            or `fitted` during the run to standardized values, as for a user who knows none.
        device: `cpu` or `cuda`.
        stream: Random stream that tasks are drawn from: to choose parameters, take
            `validation tasks`.
        on_progress: Called after each step of each method.
        label: Name of the family in the outcome; by default the name given, or the family's own.

    Returns:
        The regret and the queries of each method on each task. `record` gives the outcome as
        `metabo evaluate` stores it, and `save` writes it.

    Raises:
        OptionError: If the family, a method or an option is unknown or does not fit.
        DataError: If the task file or the artifact cannot be used.
        ShapeError: If the artifact was trained for another number of dimensions.

    Examples:
        >>> import metabo
        >>> outcome = metabo.evaluate("branin", methods=["ei", "random"], tasks=2, budget=3)
        >>> outcome.methods["ei"].regret.shape
        torch.Size([2, 3])
    """
    name, setting = named(family)
    _require_known("stream", stream, STREAMS)
    part = setting.test() if stream == "test tasks" else setting.validation()
    if part is None:
        raise OptionError(
            f"Family `{name}` has no validation tasks. Hold some out with `:validate=5`."
        )
    tasks = min(100, part.n_tasks or 100) if tasks is None else tasks
    budget = setting.budget if budget is None else budget
    require_methods(methods)
    whole(1, MAX_COUNT).require("tasks", tasks)
    BUDGET.require("budget", budget)
    _require_known("search", search, SEARCHES)
    _require_known("value of `hyperparameters`", hyperparameters, HYPERPARAMETERS)
    require_device(device)
    if artifact is not None and "metabo" not in [parse(m)[0] for m in methods]:
        given = artifact.path if isinstance(artifact, TrainedAF) else artifact
        raise OptionError(
            f"The artifact `{given}` is for the method `metabo`, which is not among the "
            f"methods {', '.join(f'`{m.strip()}`' for m in methods)}. Add it, or leave out the "
            "artifact."
        )
    # Check the names and options of all methods before the first run.
    built_for = Setting(
        setting,
        searcher(search, setting.domain, repeats=setting.noise > 0),
        device,
        str(artifact) if isinstance(artifact, Path) else artifact,
    )
    built = {m.strip(): resolved(m, built_for) for m in methods}
    if hyperparameters == "fitted":
        built = {m: Method(_refitted(m, one.policy), one.identity) for m, one in built.items()}
    drawn = (
        part.sample(tasks, generator(seed, stream))
        if task_file is None
        else read_tasks(setting, Path(task_file))
    ).to(device)
    # The optima of all drawn tasks at once might not fit into memory.
    n = tasks if task_file is None else len(drawn.optimum)
    return Evaluation(
        label or name,
        budget,
        n,
        seed,
        device,
        search,
        hyperparameters,
        stream,
        None if task_file is None else Path(task_file).name,
        _run(
            built,
            drawn,
            setting,
            n=n,
            at_once=AT_ONCE if device == "cpu" else 10 * AT_ONCE,
            seed=seed,
            budget=budget,
            on_progress=on_progress,
        ),
        setting.summary,
    )


def _run(
    methods: Mapping[str, Method],
    drawn: Tasks,
    family: TaskFamily,
    *,
    n: int,
    at_once: int,
    seed: int,
    budget: int,
    on_progress: Progress | None,
) -> dict[str, MethodResult]:
    """Run all methods on one batch of tasks after the other, to limit the memory."""
    batches = torch.arange(n).split(at_once)
    regret = {name: torch.empty(n, budget, dtype=torch.float64) for name in methods}
    dim = family.domain.dim
    queries = {name: torch.empty(n, budget, dim, dtype=torch.float64) for name in methods}
    seconds = dict.fromkeys(methods, 0.0)
    for number, index in enumerate(batches):
        # Taken once for all methods, because a task may search for its optimum when first used.
        some = drawn if len(batches) == 1 else drawn.take(index)
        for name, one in methods.items():

            def on_step(step: int, _: object, name: str = name, before: int = number) -> None:
                if on_progress is not None:
                    on_progress(name, before * budget + step, len(batches) * budget)

            start = time.perf_counter()
            done = rollout(
                one.policy,
                some,
                family,
                seed=seed,
                budget=budget,
                episodes=index,
                on_step=on_step,
            )
            regret[name][index] = done.regret.cpu()  # waits for the device
            seconds[name] += time.perf_counter() - start
            queries[name][index] = done.queries.cpu()
    return {
        name: MethodResult(regret[name], queries[name], seconds[name] / n, one.identity)
        for name, one in methods.items()
    }


def _refitted(name: str, policy: Policy) -> Policy:
    """Return the policy with a fitted GP, unless it compares values with those of sources."""
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
    """Read the tasks in a file.

    Raises:
        DataError: If the file cannot be used; the message names it.
    """
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
    """Raise `OptionError` unless the methods are a list of different names."""
    if isinstance(methods, str) or not methods or not all(isinstance(m, str) for m in methods):
        raise OptionError(
            f"`methods` must be a list with at least one name, but got {brief(methods)}."
        )
    if len({m.strip() for m in methods}) < len(methods):
        raise OptionError(f"Each method can be given once, but got {brief(list(methods))}.")


def _require_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise unknown(what, name, known)
