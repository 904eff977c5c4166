"""A unit that is being run, and where."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from metabo.evaluation import MethodResult, evaluate
from metabo.metrics import quantiles
from metabo.paper.catalogue import Unit

Record = dict[str, Any]
STUDIES = Path("runs/studies")
"""Where the training runs of studies are, or go."""


@dataclass(frozen=True)
class Job:
    """A unit, and all that its outcome does not depend on."""

    unit: Unit
    device: str = "cpu"
    artifacts: Path = STUDIES
    on_step: Callable[[int, int], None] = lambda *_: None
    """Told how many steps are done, and of how many."""

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
        """A method on the unit's family, as the unit has it where nothing else is said."""
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


def regret_record(result: MethodResult) -> Record:
    """Median, 30-70 % band and every task's regret over the steps."""
    q30, median, q70 = quantiles(result.regret, [0.3, 0.5, 0.7])
    return {
        "median": shorts(median),
        "q30": shorts(q30),
        "q70": shorts(q70),
        "regret": [shorts(row) for row in result.regret],
        "seconds_per_episode": short(result.seconds_per_episode),
    }


def short(value: float) -> float:
    """Three significant digits: all that a median over a hundred tasks is good for."""
    return float(f"{value:.3g}")


def shorts(row: Tensor) -> list[float]:
    """Each number of a row, shortened."""
    return [short(v) for v in row.tolist()]
