"""Stored numbers, asked for by name: what a claim is judged by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from metabo.metrics import bootstrap_median, steps_to
from metabo.paper.catalogue import Experiment, ScaleName
from metabo.paper.sheet import Results


class NotRunError(Exception):
    """A number that a claim needs is not stored."""


@dataclass(frozen=True)
class Evidence:
    """All stored results of a scale, by experiment."""

    experiments: Mapping[str, Experiment]
    results: Mapping[str, Results]
    scale: ScaleName = "full"

    def result(self, experiment: str, family: str, label: str) -> Mapping[str, object]:
        """What was stored of a method on a family."""
        if self.scale != "full":
            raise NotRunError(f"Claims are judged at full scale; this is the {self.scale} scale")
        record = self.results.get(experiment, {}).get((family, label))
        if record is None:
            raise NotRunError(f"{experiment}: {label} on {family} is not run")
        return record["result"]

    def median(self, experiment: str, family: str, label: str) -> np.ndarray:
        """Median regret over the steps."""
        return np.array(self.result(experiment, family, label)["median"])

    def mean(self, experiment: str, family: str, label: str) -> np.ndarray:
        """Mean regret over the steps, of a table."""
        return np.array(self.result(experiment, family, label)["mean"])

    def interval(self, experiment: str, family: str, label: str, t: int) -> tuple[float, float]:
        """A 90 % interval of the median at a step, by drawing tasks again."""
        rows = np.array(self.result(experiment, family, label)["regret"])[:, t - 1 : t]
        low, _, high = bootstrap_median(torch.from_numpy(rows))[:, 0].tolist()
        return low, high

    def seconds(self, family: str, label: str) -> float:
        """Of an episode alone."""
        value = self.result("run-time", family, label)["seconds_per_episode"]
        assert isinstance(value, float | int)
        return float(value)

    def steps(self, experiment: str, family: str, label: str) -> int:
        """Steps until the median is at the experiment's threshold; one too many if never."""
        curve = torch.from_numpy(self.median(experiment, family, label))[None]
        return int(steps_to(curve, self.experiments[experiment].threshold or 0.0))

    def named(self, prefix: str) -> list[Experiment]:
        """The experiments whose names begin so."""
        return [one for name, one in self.experiments.items() if name.startswith(prefix)]


Judge = Callable[[Evidence], tuple[bool, str]]
"""Whether a claim holds, and the numbers that say so; raises `NotRunError`."""
