"""Learn a prior from the sources of a family."""

from dataclasses import replace

import torch
from torch import Tensor

from metabo.domain import Box, Finite
from metabo.errors import DataError
from metabo.gp import Prior
from metabo.rules import whole
from metabo.sources.points import inducing_points
from metabo.sources.scattered import learn_scattered
from metabo.sources.shared import learn
from metabo.tasks import MeasuredFamily, TaskFamily

MOST_SOURCES = 1000
"""Number of sources to learn from if a family has more; more teach little."""
MOST_POINTS = 4000
"""Largest number of points of a cube at which sources can be evaluated."""
_PROBES = 24
"""Number of sources that show where points are needed."""
_MOST_ROWS = 1000
"""Number of configurations to learn from if a table has more."""


def learned_prior(
    family: TaskFamily, n_sources: int | None = None, n_points: int | None = None
) -> Prior:
    """Return the family's prior with a part that is learned from its sources.

    Args:
        family: Family with source tasks.
        n_sources: Number of sources to learn from; if None all of them, or `MOST_SOURCES`.
        n_points: Number of points at which they are evaluated; by default 200 to 800, as many as
            the interpolation between them needs, or up to 1,000 of a finite domain.

    Returns:
        The prior, on the CPU.

    Raises:
        DataError: If nothing can be learned from the sources: there are fewer than 2, or their
            values are not finite, or all of them are constant.
        OptionError: If `n_points` is less than 2, or more than there are.
    """
    most = min(family.max_sources, MOST_SOURCES) if n_sources is None else n_sources
    if isinstance(family.domain, Box):  # its sources are as many as one likes
        most = min(most, MOST_SOURCES)
    if n_points is not None:
        limit = len(family.domain.points) if isinstance(family.domain, Finite) else MOST_POINTS
        whole(2, limit).require("N", n_points)
    if most < 2:
        raise DataError(
            f"A prior is learned from at least 2 source tasks, but family `{family.name}` has "
            f"{most}. Give more of them, or train without a learned prior."
        )
    if isinstance(family, MeasuredFamily) and isinstance(family.domain, Finite):
        values = family.measured_sources(most)
        if values is not None:
            rows = _rows(family.domain, values, n_points)
            part = learn_scattered(family.prior, rows, is_exact=family.noise == 0)
            return replace(family.prior, learned=part)
    tasks = family.sources(most)
    if isinstance(family.domain, Finite):
        points = family.domain.points
        n = min(len(points), _MOST_ROWS) if n_points is None else n_points
        x = points[torch.arange(n) * len(points) // n]
        return replace(
            family.prior,
            learned=learn(family.prior, x, _values(tasks, x, most), is_exact=family.noise == 0),
        )
    x, checks = inducing_points(family.prior, family.sources(min(most, _PROBES)), n_points)
    y = _values(tasks, torch.cat([x, checks]), most)
    learned = learn(
        family.prior, x, y[:, : len(x)], checks, y[:, len(x) :], is_exact=family.noise == 0
    )
    return replace(family.prior, learned=learned)


def _rows(domain: Finite, values: Tensor, n_points: int | None) -> list[tuple[Tensor, Tensor]]:
    """Return the points and values that were measured, `n_points` of each source at most."""
    rows = []
    for own in values:
        known = own.isfinite().nonzero()[:, 0]
        n = len(known) if n_points is None else min(n_points, len(known))
        known = known[torch.arange(n) * len(known) // n]
        rows.append((domain.points[known], own[known]))
    return rows


def _values(tasks: object, x: Tensor, n: int) -> Tensor:
    return tasks(x.expand(n, -1, -1))  # type: ignore[operator]
