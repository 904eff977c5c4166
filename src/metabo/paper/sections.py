"""The section of the page about one experiment: its tables and the origin of its numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from metabo.evaluation.table import Table
from metabo.paper import RESULTS
from metabo.paper.catalogue.places import place_of
from metabo.paper.kinds import kind_of
from metabo.paper.results import Stored


@dataclass(frozen=True)
class Section:
    """One experiment on the page."""

    name: str
    title: str
    place: str
    """Where the experiment stands in the paper."""
    claim: str
    """What the paper says about it; for an experiment of our own, what it shows."""
    tables: tuple[Table, ...]
    facts: tuple[tuple[str, str], ...]
    """Settings and origin of the results: a word and its value."""
    missing: tuple[str, ...]
    """Family and method of each result that is not stored."""
    n_units: int
    """Number of results that the experiment has, stored or not."""
    command: str
    """The command that runs what is missing."""

    @property
    def is_in_paper(self) -> bool:
        """Whether the paper has this experiment."""
        return not self.place.startswith("Not in the paper")


def section(stored: Stored, folder: Path) -> Section:
    """Build the section of an experiment from its stored results."""
    experiment, kind = stored.experiment, kind_of(stored.experiment.kind)
    place, claim = place_of(experiment.name)
    tables = (kind.page_tables or kind.tables)(stored) if stored.results else []
    return Section(
        experiment.name,
        experiment.title,
        place,
        claim,
        tuple(tables),
        _facts(stored, kind.per),
        tuple(f"{unit.family}: {unit.label}" for unit in stored.missing),
        len(stored.units),
        report_command([experiment.name], stored.scale, folder, "--rerun"),
    )


def report_command(names: Sequence[str], scale: str, folder: Path, option: str) -> str:
    """The command that reports these experiments, with an option such as `--rerun`."""
    where = [] if folder == RESULTS else ["--out", quote(str(folder))]
    return " ".join(("metabo report", *names, "--scale", scale, *where, option))


def _facts(stored: Stored, per: str) -> tuple[tuple[str, str], ...]:
    experiment, size, records = stored.experiment, stored.size, stored.results.values()
    facts = [
        ("tasks", f"{size.tasks} {per}".strip()),
        ("budget", str(size.budget)),
        ("seed", str(experiment.seed)),
        ("search", experiment.search),
    ]
    if size.training:
        facts.append(("training", " ".join(size.training)))
    for key in ("device", "commit"):
        counts = Counter(str(record.get(key)) for record in records)
        facts.append((key, ", ".join(f"{name} ({n})" for name, n in counts.most_common())))
    seconds = sum(float(record.get("seconds", 0)) for record in records)
    facts.append(("run time", f"{seconds:,.0f} s for {len(records)} results"))
    return tuple((key, value) for key, value in facts if value)
