"""Stored numbers by name, which decide the claims."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from metabo.metrics import bootstrap_median
from metabo.paper.results import Record, Stored
from metabo.paper.threshold import first_step


class NotRunError(Exception):
    """A number that a claim needs is not stored."""


@dataclass(frozen=True)
class Evidence:
    """Stored results of some experiments, by name."""

    stored: Mapping[str, Stored]

    def result(self, experiment: str, family: str, label: str) -> Record:
        """Return the stored result of a method on a family.

        Raises:
            NotRunError: If it is not stored, or was run at another scale.
        """
        one = self.stored.get(experiment)
        if one is not None and one.scale != "full":
            raise NotRunError(f"Claims are judged at full scale; this is the {one.scale} scale")
        result = None if one is None else one.result(family, label)
        if result is None:
            raise NotRunError(f"{experiment}: {label} on {family} is not run")
        return result

    def median(self, experiment: str, family: str, label: str) -> np.ndarray:
        """Median regret over the steps."""
        return np.array(self.result(experiment, family, label)["median"])

    def mean(self, experiment: str, family: str, label: str) -> np.ndarray:
        """Mean regret over the steps, on a table's data sets."""
        return np.array(self.result(experiment, family, label)["mean"])

    def interval(self, experiment: str, family: str, label: str, t: int) -> tuple[float, float]:
        """A 90 % interval of the median at a step, by bootstrap over tasks."""
        rows = np.array(self.result(experiment, family, label)["regret"])[:, t - 1 : t]
        low, _, high = bootstrap_median(torch.from_numpy(rows))[:, 0].tolist()
        return low, high

    def seconds(self, family: str, label: str) -> float:
        """Seconds that an episode takes."""
        return float(self.result("run-time", family, label)["seconds_per_episode"])

    def steps(self, experiment: str, family: str, label: str) -> int:
        """Steps until the median is at the experiment's threshold; budget + 1 if never."""
        result = self.result(experiment, family, label)
        return first_step(result, self.stored[experiment].experiment.threshold)

    def families(self, experiment: str) -> tuple[str, ...]:
        """The families of an experiment; none if it was not read."""
        one = self.stored.get(experiment)
        return () if one is None else one.experiment.families


Judge = Callable[[Evidence], tuple[bool, str]]
"""Says whether a claim holds, and by which numbers; raises `NotRunError`."""
