"""The acquisition function of a run, as a user names it and as a journal records it."""

from collections.abc import Mapping
from pathlib import Path

from metabo.acquisition import AcquisitionFunction
from metabo.errors import unknown
from metabo.inputs import kind_of
from metabo.options import parse
from metabo.policies import CLASSICAL, Policy
from metabo.pretrained import TrainedAF, artifacts, load
from metabo.rules import Rule

AF = str | Path | AcquisitionFunction | Policy
GENERAL = "gp-matern52"
"""Name of the default artifact, trained on GP samples for any dimension and scale."""
AF_RULE = Rule(
    "a name, a file, an acquisition function or a policy",
    lambda v: isinstance(v, str | Path | AcquisitionFunction | Policy),
)


def default_af(budget: int | None) -> str:
    """Name the AF of a run that names none: the general artifact, if there is a budget."""
    return GENERAL if budget is not None and GENERAL in artifacts() else "logei"


def resolved(af: AF) -> str | AcquisitionFunction | Policy:
    """Check an AF, and load it if it is an artifact.

    Returns:
        The name of a classical method, or an object.

    Raises:
        OptionError: If there is no such method or artifact.
        DataError: If an artifact's file cannot be read.
    """
    AF_RULE.require("af", af)
    if isinstance(af, str) and parse(af)[0] in CLASSICAL:
        return af.strip()
    if isinstance(af, str | Path):
        is_named = isinstance(af, Path) or af.endswith(".safetensors")
        is_file = is_named or kind_of(Path(af), "artifact") != "missing"
        if not is_file and af not in artifacts():
            raise unknown("acquisition function", str(af), (*CLASSICAL, *artifacts()))
        return load(af)
    return af


def identity(af: AF) -> dict[str, object]:
    """Describe an AF for a journal: its kind and name, and the hash of an artifact."""
    chosen = resolved(af)
    if isinstance(chosen, str):
        return {"kind": "method", "name": chosen}
    if isinstance(chosen, TrainedAF):
        name, path = chosen.path.stem, chosen.path
        is_shipped = artifacts().get(name) == path
        return {
            "kind": "artifact",
            "name": name if is_shipped else str(path.absolute()),
            "sha256": chosen.sha256,
        }
    return {"kind": "object", "name": type(chosen).__name__}


def is_same_af(af: AF | None, kept: object) -> bool:
    """Tell whether a journal's record describes an AF; an artifact's file may have moved."""
    if af is None or not isinstance(kept, Mapping):
        return af is None and kept is None
    chosen = resolved(af)
    if isinstance(chosen, TrainedAF):
        return kept.get("kind") == "artifact" and chosen.has_been(str(kept.get("sha256")))
    return all(kept.get(key) == value for key, value in identity(chosen).items())


def short_name(af: AF) -> str:
    """Return the name of an AF as it appears in a sentence."""
    chosen = resolved(af)
    return chosen.path.stem if isinstance(chosen, TrainedAF) else str(identity(chosen)["name"])
