"""The experiments of the paper that `metabo report` runs and shows, one file per group."""

from metabo.errors import OptionError, unknown
from metabo.paper.catalogue.benchmarks import BENCHMARK_EXPERIMENTS
from metabo.paper.catalogue.furuta import FURUTA_EXPERIMENTS
from metabo.paper.catalogue.general import GENERAL_EXPERIMENTS
from metabo.paper.catalogue.record import (
    ALL_SOURCES,
    BENCHMARKS,
    SCALES,
    Experiment,
    Scale,
    ScaleName,
    Unit,
)
from metabo.paper.catalogue.studies import STUDIES
from metabo.paper.catalogue.tables import TABLE_EXPERIMENTS

__all__ = [
    "ALL_SOURCES",
    "BENCHMARKS",
    "EXPERIMENTS",
    "SCALES",
    "Experiment",
    "Scale",
    "ScaleName",
    "Unit",
    "experiment",
    "scale",
]

EXPERIMENTS: dict[str, Experiment] = {
    e.name: e
    for e in (
        *BENCHMARK_EXPERIMENTS,
        *FURUTA_EXPERIMENTS,
        *TABLE_EXPERIMENTS,
        *GENERAL_EXPERIMENTS,
        *STUDIES,
    )
}


def experiment(name: str) -> Experiment:
    """Return the experiment of this name.

    Raises:
        OptionError: If there is no such experiment.
    """
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


def scale(name: str) -> ScaleName:
    """Return the scale of this name.

    Raises:
        OptionError: If there is no such scale.
    """
    for known in SCALES:
        if name == known:
            return known
    raise OptionError(f"`scale` must be `smoke` or `full`, but got `{name}`.")
