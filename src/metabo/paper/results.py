"""Results as they are stored: one file for each unit, read by experiment."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metabo.errors import DataError
from metabo.evaluation.methods import identity
from metabo.inputs import parse_json, read_bytes
from metabo.paper.catalogue import Experiment, Scale, ScaleName, Unit

Record = dict[str, Any]
"""The stored record of one unit."""
Results = Mapping[tuple[str, str], Record]
"""Stored records by family and label of the unit; missing ones are left out."""


@dataclass(frozen=True)
class Stored:
    """The stored results of an experiment at a scale."""

    experiment: Experiment
    scale: ScaleName
    results: Results

    @property
    def size(self) -> Scale:
        """Tasks, budget and settings of this scale."""
        return self.experiment.scales[self.scale]

    @property
    def units(self) -> list[Unit]:
        """All units of the experiment, stored or not."""
        return list(self.experiment.units(self.scale))

    @property
    def missing(self) -> list[Unit]:
        """The units without a stored result."""
        return [unit for unit in self.units if (unit.family, unit.label) not in self.results]

    def result(self, family: str, label: str) -> Record | None:
        """Return the result of a unit; None if it is not stored."""
        record = self.results.get((family, label))
        return None if record is None else record["result"]

    def by_method(self, family: str) -> dict[str, Record]:
        """The stored results on a family, in the order of the experiment's methods."""
        found = ((method, self.result(family, method)) for method in self.experiment.methods)
        return {method: result for method, result in found if result is not None}


def read(experiment: Experiment, scale: ScaleName, folder: Path) -> Stored:
    """Read all that is stored of an experiment, each file once."""
    found = ((unit, stored(unit, folder)) for unit in experiment.units(scale))
    results = {(u.family, u.label): record for u, record in found if record is not None}
    return Stored(experiment, scale, results)


def stored(unit: Unit, folder: Path) -> Record | None:
    """The unit's record; None if there is none, or one of another configuration or artifact."""
    try:
        record = parse_json(read_bytes(folder / unit.path, "result"), "The result")
    except DataError:
        return None
    if not isinstance(record, dict) or "result" not in record:
        return None
    wanted = json.loads(json.dumps(heading(unit)))  # JSON turns tuples into lists
    return record if all(record.get(key) == value for key, value in wanted.items()) else None


def missing(units: Iterable[Unit], folder: Path) -> list[Unit]:
    """The units without a stored result."""
    return [unit for unit in units if stored(unit, folder) is None]


def heading(unit: Unit) -> Record:
    """Return what a result depends on, as far as it is known without running the unit."""
    names = unit.settings or (unit.method,)
    # The AFs of a study are not stored, so the configuration of their training identifies them.
    methods = (
        {}
        if unit.sources
        else {name: identity(name, unit.family, unit.artifact) for name in names}
    )
    return {"configuration": unit.configuration, "methods": methods}
