"""The kinds of experiments, one file each.

This is the only place where a kind is looked up by its name.
"""

from metabo.errors import unknown
from metabo.paper.kinds import (
    control,
    heat,
    reach,
    regret,
    seconds,
    sources,
    strategy,
    table,
    tuning,
)
from metabo.paper.kinds.kind import Kind

__all__ = ["KINDS", "Kind", "kind_of"]

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        regret.KIND,
        seconds.KIND,
        tuning.KIND,
        table.KIND,
        control.KIND,
        reach.KIND,
        heat.KIND,
        sources.KIND,
        strategy.KIND,
    )
}


def kind_of(name: str) -> Kind:
    """Return the kind of this name.

    Raises:
        OptionError: If there is no such kind.
    """
    if name not in KINDS:
        raise unknown("kind of experiment", name, KINDS)
    return KINDS[name]
