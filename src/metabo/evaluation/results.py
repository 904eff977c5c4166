"""The outcome of an evaluation, and how it is written to a file."""

import json
import platform
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy
import torch
from torch import Tensor

from metabo.evaluation.setting import Hyperparameters
from metabo.metrics import quantiles
from metabo.shapes import Float
from metabo.tasks import Summary
from metabo.version import __version__, commit

_ROWS = 1000
"""Number of tasks written at a time: as Python objects, numbers take ten times the memory."""


@dataclass(frozen=True)
class MethodResult:
    """The results of one method on all tasks."""

    regret: Float[Tensor, "E T"]
    """Simple regret of each task after each step."""
    queries: Float[Tensor, "E T D"]
    """Points of the unit cube that each task was queried at."""
    seconds_per_episode: float
    """Wall-clock seconds of the lockstep runs divided by their episodes."""
    identity: dict[str, str]
    """All options of the method, given or not, and a hash of the artifact where there is one."""

    def record(self) -> dict[str, object]:
        """Return the result as stored in `results.json`."""
        return {**self._curves(), **{n: v.tolist() for n, v in self._rows()}, **self._rest()}

    def parts(self) -> Iterator[str]:
        """Yield the text of `record` in JSON, piece by piece."""
        yield _text(self._curves())[:-1]
        for name, values in self._rows():
            yield f', "{name}": ['
            for number, some in enumerate(values.split(_ROWS)):
                yield ", " * (number > 0) + _text(some.tolist())[1:-1]
            yield "]"
        yield f", {_text(self._rest())[1:]}"

    def _curves(self) -> dict[str, object]:
        q30, median, q70 = quantiles(self.regret, [0.3, 0.5, 0.7])
        curves = {"median": median, "q30": q30, "q70": q70, "mean": self.regret.mean(0)}
        return {name: curve.tolist() for name, curve in curves.items()}

    def _rows(self) -> tuple[tuple[str, Tensor], ...]:
        return ("regret", self.regret), ("queries", self.queries)

    def _rest(self) -> dict[str, object]:
        return {"seconds_per_episode": self.seconds_per_episode, "identity": self.identity}


@dataclass(frozen=True)
class Evaluation:
    """The outcome of `evaluate`."""

    family: str
    """Name of the family, with the options given."""
    budget: int
    """Evaluations per task."""
    tasks: int
    """Number of tasks."""
    seed: int
    """Random seed for tasks and episodes."""
    device: str
    """Device that the episodes ran on."""
    search: str
    """How acquisition functions were maximized."""
    hyperparameters: Hyperparameters
    """Where the hyperparameters of the GP came from."""
    stream: str
    """Random stream that the tasks were drawn from."""
    task_file: str | None
    """Name of the file that gave the tasks; None where they were drawn from the stream."""
    methods: dict[str, MethodResult]
    """Results by method, named as given."""
    summary: Summary = "median"
    """How regret over the tasks of the family is summarized; not stored."""

    def record(self) -> dict[str, object]:
        """Return the outcome as stored in `results.json`."""
        results = {name: result.record() for name, result in self.methods.items()}
        return {**self._head(), "methods": results}

    def save(self, path: Path) -> None:
        """Write `results.json`: the text of `record`, in pieces that take little memory."""
        with path.open("w") as file:
            file.write(f'{_text(self._head())[:-1]}, "methods": {{')
            for number, (name, result) in enumerate(self.methods.items()):
                file.write(f"{', ' * (number > 0)}{json.dumps(name)}: ")
                file.writelines(result.parts())
            file.write("}}")

    def _head(self) -> dict[str, object]:
        left_out = ("methods", "summary")
        head = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}
        return {**head, "versions": versions(), "commit": commit()}


def versions() -> dict[str, str]:
    """Return the versions of the software that results depend on."""
    return {
        "metabo": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }


def _text(record: object) -> str:
    return json.dumps(record, allow_nan=False)
