"""What a unit of each kind runs, and what is kept of it."""

from collections.abc import Callable

from metabo.paper.catalogue import Kind
from metabo.paper.runs.control import control
from metabo.paper.runs.heat import heat
from metabo.paper.runs.job import Job, Record
from metabo.paper.runs.plain import regret, table
from metabo.paper.runs.sources import sources
from metabo.paper.runs.strategy import strategy
from metabo.paper.runs.timing import seconds
from metabo.paper.runs.tuning import tuning

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
