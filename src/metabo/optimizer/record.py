"""What a journal keeps of a run: its settings in the header, then one line per evaluation."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict, cast

import torch

from metabo.domain import require_inside
from metabo.errors import DataError, MetaBOError, OptionError
from metabo.gp import Prior
from metabo.optimizer.configurations import CandidatesName
from metabo.optimizer.evaluation import Direction, Evaluation, require_value
from metabo.optimizer.proposer import AF
from metabo.optimizer.surrogate import PriorName
from metabo.policies import SearchName
from metabo.schema import first_difference, from_json
from metabo.space import Space


class Arguments(TypedDict):
    """Of `Optimizer`."""

    space: Space
    budget: int
    af: AF
    direction: Direction
    seed: int
    prior: Prior | PriorName | None
    search: SearchName
    candidates: CandidatesName


_BEFORE: dict[str, object] = {"candidates": "space"}
"""What the settings of a journal were before they were written down."""
_NEAR = 1e-6
"""How far a stored point may lie from where its parameters are encoded: proposals lie within
rounding, which a large offset or a log scale magnifies."""


def evaluation_record(one: Evaluation) -> dict[str, object]:
    """One line of a journal."""
    told = {"failed": True} if one.value is None else {"value": one.value}
    return {"params": one.params, **told, "x": list(one.x)}


def read_evaluation(record: Mapping[str, object], space: Space) -> Evaluation:
    """The evaluation of a line, checked like one that is told."""
    is_failure = record.get("failed") is True
    names = {"params", "x", "failed" if is_failure else "value"}
    if set(record) != names:
        raise DataError(f"It must have {sorted(names)}, but has {sorted(record)}.")
    params, x = record["params"], record["x"]
    cleaned = space.clean(params)  # type: ignore[arg-type]
    value = None if is_failure else require_value(record["value"])
    try:
        point = torch.tensor(x, dtype=torch.float64)
    except (TypeError, ValueError):
        point = torch.empty(0)
    if point.shape != (space.dim,):
        raise DataError(f"`x` must be {space.dim} numbers, but got {x!r}.")
    require_inside(point)
    if not torch.allclose(point, space.encode(cleaned), rtol=0, atol=_NEAR):
        raise DataError(f"`x` is {x}, which are not the parameters {cleaned}.")
    return Evaluation(cleaned, value, tuple(point.tolist()))


def read_history(path: Path, records: list[dict[str, object]], space: Space) -> list[Evaluation]:
    """All evaluations of a journal; a line that is none is named."""
    history = []
    for number, record in enumerate(records, 2):
        try:
            history.append(read_evaluation(record, space))
        except MetaBOError as error:
            raise DataError(f"Line {number} of the journal `{path}`: {error}") from None
    return history


def require_same(path: Path, stored: Mapping[str, object], given: Mapping[str, object]) -> None:
    """Raise unless a journal was begun with these settings; names the first that differs."""
    for name, value in given.items():
        if name == "metabo":  # the version, which may change in the course of a run
            continue
        difference = _difference(name, stored.get(name, _BEFORE.get(name)), value)
        if difference is not None:
            raise OptionError(
                f"The journal `{path}` was begun with other settings: {difference}. Give the "
                "same, or open it with `Optimizer.open`."
            )


def _difference(name: str, stored: object, given: object) -> str | None:
    if name == "space":
        known, asked = from_json(stored), from_json(given)
        if list(known.parameters) != list(asked.parameters):
            order = f"parameters {list(known.parameters)}, not {list(asked.parameters)}"
            return first_difference(asked, known) or order
        return first_difference(asked, known)
    if name == "af" and isinstance(stored, Mapping) and isinstance(given, Mapping):
        # An artifact may have moved.
        key = "sha256" if stored.get("kind") == given.get("kind") == "artifact" else "name"
        if stored.get("kind") == given.get("kind") and stored.get(key) == given.get(key):
            return None
        both = stored.get("name") == given.get("name")
        texts = [str(one.get("sha256" if both else "name")) for one in (stored, given)]
        return f"`af` is `{texts[0]}` there, not `{texts[1]}`"
    if json.dumps(stored) == json.dumps(given):
        return None
    return f"`{name}` is {json.dumps(stored)} there, not {json.dumps(given)}"


def arguments(path: Path, header: Mapping[str, object], af: AF | None) -> Arguments:
    """What to call `Optimizer` with in order to go on with the run of a header."""
    kept = header.get("af")
    identity = kept if isinstance(kept, Mapping) else {}
    if af is None and identity.get("kind") == "object":
        raise OptionError(
            f"The journal `{path}` was begun with an acquisition function that has no name, of "
            f"type `{identity.get('name')}`. Give it as `af`."
        )
    try:
        names = ("budget", "direction", "seed", "search", "candidates")
        plain = {name: (_BEFORE | dict(header))[name] for name in names}
        read = {
            "space": from_json(header["space"]),
            "af": identity["name"] if af is None else af,
            "prior": _read_prior(header["prior"]),
        }
        return cast(Arguments, plain | read)  # `Optimizer` checks them
    except (KeyError, MetaBOError) as error:
        raise DataError(
            f"Line 1 of the journal `{path}` cannot be used: {error}. Restore the file."
        ) from None


def _read_prior(record: object) -> Prior | PriorName | None:
    """The argument `prior` that a journal's header stands for."""
    kind = record.get("kind") if isinstance(record, Mapping) else None
    if kind == "given" and isinstance(record, Mapping):
        return Prior.read(record)
    if kind == "artifact":
        return "artifact"
    if kind == "fitted":
        return "fitted"
    if kind == "unused":
        return None
    raise DataError(f"A journal cannot have the prior {record!r}. Restore the file.")
