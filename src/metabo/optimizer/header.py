"""The settings of a run in the header of its journal, and what tells two of them apart."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict, cast

from metabo.errors import DataError, MetaBOError, OptionError, brief, shown
from metabo.gp import Prior
from metabo.optimizer.configurations import CandidatesName
from metabo.optimizer.evaluation import Direction
from metabo.optimizer.proposer import AF
from metabo.optimizer.surrogate import PriorName
from metabo.policies import SearchName
from metabo.pretrained import TrainedAF
from metabo.rules import BUDGET
from metabo.space import Space
from metabo.space.schema import first_difference, from_json


class Arguments(TypedDict):
    """Keyword arguments of `Optimizer`."""

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


def require_same(
    path: Path,
    stored: Mapping[str, object],
    given: Mapping[str, object],
    *,
    budget: int,
    artifact: TrainedAF | None,
) -> None:
    """Raise unless a journal was begun with these settings; names the first that differs.

    Args:
        path: The journal.
        stored: Its header.
        given: The settings.
        budget: To which the run in the journal was extended: that is the same as the first one.
        artifact: What the settings are about, if it is a learned AF; its file may have moved.
    """
    for name, value in given.items():
        if name == "metabo":  # the version, which may change in the course of a run
            continue
        if name == "budget" and value == budget:
            continue
        before = stored.get(name, _BEFORE.get(name))
        if name == "af" and _is_same_artifact(before, artifact):
            continue
        difference = _difference(name, before, value)
        if difference is not None:
            raise OptionError(
                f"The journal `{shown(path)}` was begun with other settings: {difference}. Give "
                "the same, or open it with `Optimizer.open`.",
                shell=f"The run in `{shown(path)}` was begun with other settings: {difference}. "
                "Restore what it was begun with.",
            )


def _is_same_artifact(stored: object, artifact: TrainedAF | None) -> bool:
    """Whether a header's `af` is an artifact, wherever that lies now."""
    return (
        artifact is not None
        and isinstance(stored, Mapping)
        and stored.get("kind") == "artifact"
        and artifact.has_been(str(stored.get("sha256")))
    )


def _difference(name: str, stored: object, given: object) -> str | None:
    if name == "space":
        known, asked = from_json(stored), from_json(given)
        if list(known.parameters) != list(asked.parameters):
            order = f"parameters {list(known.parameters)}, not {list(asked.parameters)}"
            return first_difference(known, asked) or order
        return first_difference(known, asked)
    if name == "af" and isinstance(stored, Mapping) and isinstance(given, Mapping):
        is_method = given.get("kind") != "artifact"
        if is_method and all(stored.get(key) == given.get(key) for key in ("kind", "name")):
            return None
        both = stored.get("name") == given.get("name")
        texts = [str(one.get("sha256" if both else "name")) for one in (stored, given)]
        texts = [text[:12] if both else text for text in texts]
        return f"`af` is `{texts[0]}` there, not `{texts[1]}`"
    if json.dumps(stored) == json.dumps(given):
        return None
    return f"`{name}` is {json.dumps(stored)} there, not {json.dumps(given)}"


def begun_with(path: Path, header: Mapping[str, object]) -> tuple[Space, int]:
    """The space and the budget of the run of a header."""
    try:
        budget = header["budget"]
        BUDGET.require("budget", budget)
        return from_json(header["space"]), cast(int, budget)
    except (KeyError, MetaBOError) as error:
        raise _unusable(path, error) from None


def arguments(path: Path, header: Mapping[str, object], af: AF | None) -> Arguments:
    """What to call `Optimizer` with in order to go on with the run of a header."""
    kept = header.get("af")
    identity = kept if isinstance(kept, Mapping) else {}
    if af is None and identity.get("kind") == "object":
        raise OptionError(
            f"The journal `{shown(path)}` was begun with an acquisition function that has no "
            f"name, of type `{identity.get('name')}`. Give it as `af`.",
            shell=f"The run in `{shown(path)}` was begun in Python with an acquisition function "
            f"of its own, of type `{identity.get('name')}`. Ask in Python, with "
            "`metabo.Optimizer.open(journal, af=...)`.",
        )
    try:
        names = ("budget", "direction", "seed", "search", "candidates")
        plain = {name: (_BEFORE | dict(header))[name] for name in names}
        for name in ("direction", "search", "candidates"):
            if not isinstance(plain[name], str):
                raise DataError(f"`{name}` must be text, but is {brief(plain[name])}.")
        read = {
            "space": from_json(header["space"]),
            "af": identity["name"] if af is None else af,
            "prior": _read_prior(header["prior"]),
        }
        return cast(Arguments, plain | read)  # `Optimizer` checks them
    except (KeyError, MetaBOError) as error:
        raise _unusable(path, error) from None


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


def _unusable(path: Path, error: Exception) -> DataError:
    reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return DataError(
        f"Line 1 of the journal `{shown(path)}` has settings that cannot be used: {reason} "
        "Restore the file."
    )
