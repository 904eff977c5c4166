"""The tables of `metabo list`: all that can be named, with its options."""

from collections.abc import Callable, Iterator
from typing import Any

from rich.table import Table

from metabo.cli.display import empty_table
from metabo.evaluation.methods import METHODS
from metabo.options import declared_options
from metabo.paper.catalogue import EXPERIMENTS
from metabo.policies import SEARCHES
from metabo.pretrained import artifacts, read_card
from metabo.tasks import FAMILIES, family
from metabo.training import PRESETS

UNSET = {
    "sources": "all",
    "fold": "none",
    "budget": "table's",
    "M": "50",
    "N": "100",
    "w": "preset's",
    "components": "preset's",
    "epsilon": "preset's",
    "artifact": "family's",
}
"""What options mean that are None by default."""


def tables() -> Iterator[Table]:
    """Families, methods, searches, training presets, artifacts and experiments."""
    families = empty_table("Families (name:option=value)", "name", "D", "budget", "options")
    for name, builder in FAMILIES.items():
        setting = family(name)
        families.add_row(name, str(setting.domain.dim), str(setting.budget), options(builder))
    families.add_row("table:FOLDER", "-", "-", "as svm; a folder of your own results")
    yield families
    methods = empty_table("Methods (name:option=value)", "name", "what it does", "options")
    for name, build in METHODS.items():
        methods.add_row(name, (build.__doc__ or "").splitlines()[0], options(build))
    yield methods
    searches = empty_table("Searches", "name", "how acquisition functions are maximized")
    for name, summary in SEARCHES.items():
        searches.add_row(name, summary)
    yield searches
    presets = empty_table("Training presets", "name", "settings other than the paper's")
    for name, settings in PRESETS.items():
        row = " ".join(f"{key}={written(value)}" for key, value in settings.items())
        presets.add_row(name, row or "none")
    yield presets
    yield _artifacts()
    experiments = empty_table("Experiments", "name", "what it shows")
    for name, one in EXPERIMENTS.items():
        experiments.add_row(name, one.title)
    yield experiments


def options(builder: Callable[..., object]) -> str:
    """The options of a family or method with their defaults, as they are written."""
    declared = declared_options(builder)
    values = {
        name: UNSET.get(name, "-") if p.default is None else written(p.default)
        for name, p in declared.items()
    }
    return " ".join(f"{name}={value}" for name, value in values.items()) or "-"


def _artifacts() -> Table:
    table = empty_table(
        "Artifacts", "name", "D", "sources", "seconds", "validation regret", "EI's", "random's"
    )
    for name, path in artifacts().items():
        card: dict[str, Any] = read_card(path)
        training, medians = card["training"], card["validation"]["median_regret"]
        table.add_row(
            name,
            str(card["domain"]["dim"]),
            str(card["sources"] or "all"),
            f"{training['seconds']:.0f}",
            *(f"{medians[m][-1]:.1e}" for m in ("metabo", "ei", "random")),
        )
    return table


def written(value: object) -> str:
    """A value as `name:option=value` and `--set` take it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, tuple):
        return str(value)
    if len(value) == 2 and all(isinstance(v, float) for v in value):
        return f"{value[0]:g}..{value[1]:g}"
    return ",".join(map(str, value))
