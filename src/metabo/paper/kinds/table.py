"""Mean regret on the data sets of a table, and how many are not solved yet: Figure 4."""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from metabo.errors import OptionError
from metabo.evaluation.table import Table
from metabo.evaluation.table_summary import marks, mean_table, table_record
from metabo.paper.catalogue import Unit
from metabo.paper.job import Job
from metabo.paper.kinds.kind import Kind, Picture
from metabo.paper.results import Record, Stored
from metabo.store import save_json
from metabo.tasks import family as family_of

REPEATS = 5
"""Number of runs of a method, because ties and random search depend on random numbers."""


def run(job: Job) -> Record:
    """Regret on each data set, averaged over runs with different random numbers."""
    runs = []
    with TemporaryDirectory() as folder:
        # Written down, because the order of drawn tasks depends on the seed.
        tasks = Path(folder) / "tasks.json"
        save_json(_datasets(job.unit))(tasks)
        for repeat in range(REPEATS):

            def on_step(done: int, n: int, repeat: int = repeat) -> None:
                job.on_step(repeat * n + done, REPEATS * n)

            seed = job.unit.seed + repeat
            runs.append(job.evaluated(on_step=on_step, seed=seed, task_file=tasks).regret)
    return table_record(torch.stack(runs))


def tables(stored: Stored) -> list[Table]:
    """Mean regret of each method on each table's data sets."""
    size = stored.size
    return [
        mean_table(
            f"{family}: mean simple regret on {size.tasks} data sets kept for testing",
            stored.by_method(family),
            marks(size.budget),
            methods=stored.experiment.methods,
            notes=["In brackets: a 90 % interval over data sets."],
        )
        for family in stored.experiment.families
    ]


def figure(stored: Stored) -> Picture:
    """Mean regret over the steps, and the share of data sets that are not solved."""
    from metabo.evaluation.plots import tables_figure

    (family,) = stored.experiment.families
    return tables_figure(stored.by_method(family), stored.experiment.title)


def _datasets(unit: Unit) -> list[dict[str, str]]:
    """The data sets kept for testing, as many as the unit has tasks."""
    known = family_of(unit.family).test().provenance
    if known is None:
        raise OptionError(f"The family `{unit.family}` has no data sets. Use `svm`.")
    return [{"dataset": name} for name in known.test[: unit.tasks]]


KIND = Kind("table", run, tables, figure)
