"""The learned part of a prior in an artifact: tensors beside the weights, sizes in the card.

Numbers are stored in float64: interpolation sums thousands of large terms that nearly cancel.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from torch import Tensor

from metabo.errors import DataError, shown
from metabo.gp import KERNELS, Cells, Groups, KernelName, LearnedPart
from metabo.gp.cells import CELL_TENSORS
from metabo.rules import one_of, require_fields, whole

FIELD = "learned_prior"
"""Field of the card."""
_PREFIX = "prior."
_MOST = 1e12
"""Largest absolute number of a learned part that is accepted; usual ones are below 1e8."""
_SIZES = {
    "kernel": one_of(*KERNELS),
    "points": whole(1, 10_000),
    "features": whole(0, 10_000),
    "cells": whole(1, 10_000),
    "groups": whole(0, 10_000),
    "spread": whole(0, 10_000),
}


def described(part: LearnedPart) -> dict[str, object]:
    """Return the field of the card."""
    return {
        "kernel": part.kernel,
        "points": len(part.z),
        "features": part.rank,
        "cells": len(part.cells.share),
        "groups": len(part.groups.centre),
        "spread": part.groups.spread.shape[-1],
    }


def tensors_of(part: LearnedPart) -> dict[str, Tensor]:
    """Return the tensors to store, by name."""
    own = {name: getattr(part, name) for name in ("z", "weights", "lengthscale", "level")}
    own |= {"groups.centre": part.groups.centre, "groups.spread": part.groups.spread}
    cells = {f"cells.{name}": getattr(part.cells, name) for name in CELL_TENSORS}
    return {
        f"{_PREFIX}{name}": v.detach().cpu().double().clone() for name, v in (own | cells).items()
    }


def shapes_of(field: object, dim: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes that the stored tensors must have, by name.

    Raises:
        DataError: If the field of the card is not valid.
    """
    found = require_fields(field, _SIZES, "the learned prior", required=_SIZES, remedy="")
    z, r, c, g, q = (cast(int, found[name]) for name in _SIZES if name != "kernel")
    own: dict[str, tuple[int, ...]] = {
        "z": (z, dim),
        "weights": (r + 1, z),
        "lengthscale": (1, dim),
        "level": (),
        "groups.centre": (g, r),
        "groups.spread": (g, r, q),
    }
    cells = {f"cells.{name}": () if name == "log_plain" else (c,) for name in CELL_TENSORS}
    return {f"{_PREFIX}{name}": shape for name, shape in (own | cells).items()}


def split(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Separate the tensors of the network from those of the learned prior."""
    network = {name: t for name, t in tensors.items() if not name.startswith(_PREFIX)}
    return network, {name: t for name, t in tensors.items() if name.startswith(_PREFIX)}


def part_of(tensors: Mapping[str, Tensor], field: Mapping[str, object], path: Path) -> LearnedPart:
    """Return the learned part with these tensors.

    Raises:
        DataError: If a number is not finite or out of range.
    """
    known = {name.removeprefix(_PREFIX): tensor.double() for name, tensor in tensors.items()}
    plain, group = known["cells.log_plain"], known["cells.group"]
    positive = (known[f"cells.{name}"] for name in ("share", "scale"))
    not_negative = (known[f"cells.{name}"] for name in ("offset_variance", "noise_share"))
    is_sane = (
        all(bool((t.abs() <= _MOST).all()) for n, t in known.items() if n != "cells.log_plain")
        and all(bool((tensor > 0).all()) for tensor in (known["lengthscale"], *positive))
        and all(bool((tensor >= 0).all()) for tensor in not_negative)
        and not bool(plain.isnan() or plain > 0)
        # Cells of all sources come first: there is at least one, and they are never dropped.
        and int(group[0]) == 0
        and bool(((group >= 0) & (group == group.round())).all())
        and int(group.max()) <= len(known["groups.centre"])
    )
    if not is_sane:
        raise DataError(
            f"The learned prior of `{shown(path)}` must have finite numbers, positive "
            "lengthscales, shares and scales, and cells of groups that exist. Get the file again, "
            "or learn it again."
        )
    known["cells.group"] = group.long()
    cells = Cells(*(known[f"cells.{name}"] for name in CELL_TENSORS))
    kernel = cast(KernelName, field["kernel"])
    groups = Groups(known["groups.centre"], known["groups.spread"])
    own = (known["z"], known["weights"], known["lengthscale"])
    return LearnedPart(*own, kernel, cells, groups, known["level"])
