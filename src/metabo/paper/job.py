"""A unit that is being run, and where."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from metabo.evaluation import MethodResult, evaluate
from metabo.paper import STUDY_RUNS
from metabo.paper.catalogue import Unit


@dataclass(frozen=True)
class Job:
    """A unit, and settings that do not change its result."""

    unit: Unit
    device: str = "cpu"
    artifacts: Path = STUDY_RUNS
    on_step: Callable[[int, int], None] = lambda *_: None
    """Called with the number of steps that are done, and the number of all steps."""

    def evaluated(
        self,
        method: str | None = None,
        *,
        on_step: Callable[[int, int], None] | None = None,
        tasks: int | None = None,
        seed: int | None = None,
        device: str | None = None,
        artifact: str | None = None,
        task_file: Path | None = None,
    ) -> MethodResult:
        """Evaluate a method on the unit's family; what is not given is taken from the unit."""
        unit, told = self.unit, on_step or self.on_step
        evaluation = evaluate(
            unit.family,
            methods=[unit.method if method is None else method],
            tasks=unit.tasks if tasks is None else tasks,
            seed=unit.seed if seed is None else seed,
            budget=unit.budget,
            artifact=artifact or unit.artifact,
            task_file=task_file,
            search=unit.search,
            hyperparameters=unit.hyperparameters,
            device=device or self.device,
            stream=unit.stream,
            on_progress=lambda _, done, n: told(done, n),
        )
        (result,) = evaluation.methods.values()
        return result
