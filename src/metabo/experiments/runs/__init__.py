"""What a unit of each kind runs, and what is kept of it."""

from collections.abc import Callable

from metabo.experiments.catalogue import Kind
from metabo.experiments.runs.control import control
from metabo.experiments.runs.heat import heat
from metabo.experiments.runs.job import Job, Record
from metabo.experiments.runs.plain import regret, table
from metabo.experiments.runs.sources import sources
from metabo.experiments.runs.strategy import strategy
from metabo.experiments.runs.timing import seconds
from metabo.experiments.runs.tuning import tuning

RUNS: dict[Kind, Callable[[Job], Record]] = {
    "regret": regret,
    "seconds": seconds,
    "tuning": tuning,
    "table": table,
    "control": control,
    "reach": regret,
    "heat": heat,
    "sources": sources,
    "strategy": strategy,
}

__all__ = ["RUNS", "Job", "Record"]
