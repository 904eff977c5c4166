"""The tables of `metabo list`: everything that can be named, with its options."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from metabo.evaluation.methods import METHODS
from metabo.evaluation.numbers import fixed, scientific
from metabo.evaluation.table import Column, Table, names, numbers
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
"""The meaning of options that are None by default."""


def tables() -> Iterator[Table]:
    """Yield the families, methods, searches, training presets, artifacts and experiments."""
    families = [
        (name, str(setting.domain.dim), str(setting.budget), options(builder))
        for name, builder in FAMILIES.items()
        for setting in (family(name),)
    ]
    families.append(("table:FOLDER", "-", "-", "as svm; a folder of your own results"))
    numbered = [Column("D"), Column("budget"), Column("options", "text")]
    yield Table.of("Families (name:option=value)", [*names("name"), *numbered], families)
    methods = [
        (name, (build.__doc__ or "").splitlines()[0], options(build))
        for name, build in METHODS.items()
    ]
    yield _words("Methods (name:option=value)", ("what it does", "options"), methods)
    yield _words("Searches", ("how acquisition functions are maximized",), SEARCHES.items())
    presets = [
        (name, " ".join(f"{key}={written(value)}" for key, value in settings.items()) or "none")
        for name, settings in PRESETS.items()
    ]
    yield _words("Training presets", ("settings other than the paper's",), presets)
    yield _artifacts()
    experiments = [(name, one.title) for name, one in EXPERIMENTS.items()]
    yield _words("Experiments", ("what it shows",), experiments)


def _words(title: str, heads: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Table:
    return Table.of(title, [*names("name"), *(Column(head, "text") for head in heads)], rows)


def options(builder: Callable[..., object]) -> str:
    """Return the options of a family or method with their defaults, as they are typed."""
    declared = declared_options(builder)
    # A learned prior decides by itself at how many points sources are evaluated.
    unset = UNSET | ({"N": "as needed"} if "prior" in declared else {})
    values = {
        name: unset.get(name, "-") if p.default is None else written(p.default)
        for name, p in declared.items()
    }
    return " ".join(f"{name}={value}" for name, value in values.items()) or "-"


def _artifacts() -> Table:
    rows = []
    for name, path in artifacts().items():
        card: dict[str, Any] = read_card(path)
        training, medians = card["training"], card["validation"]["median_regret"]
        rows.append(
            (
                name,
                str(card["domain"]["dim"]),
                str(card["sources"] or "all"),
                "learned" if "learned_prior" in card else "plain",
                fixed(training["seconds"], 0),
                *(scientific(medians[m][-1]) for m in ("metabo", "ei", "random")),
            )
        )
    columns = [*numbers(("D", "sources")), Column("prior", "text")]
    columns += numbers(("seconds", "validation regret", "EI's", "random's"))
    return Table.of("Artifacts", [*names("name"), *columns], rows)


def written(value: object) -> str:
    """Write a value as `name:option=value` and `--set` take it."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if not isinstance(value, tuple):
        return str(value)
    if len(value) == 2 and all(isinstance(v, float) for v in value):
        return f"{value[0]:g}..{value[1]:g}"
    return ",".join(map(str, value))
