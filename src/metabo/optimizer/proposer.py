"""From the argument `af` of an optimizer to the policy that proposes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metabo.acquisition import AcquisitionFunction, NeuralAF
from metabo.errors import OptionError, ShapeError, brief, unknown
from metabo.inputs import kind_of
from metabo.optimizer.configurations import CandidatesName, Configurations, configurations
from metabo.options import parse
from metabo.policies import (
    CLASSICAL,
    Maximize,
    Policy,
    SearchName,
    classical,
    in_space,
    learned,
)
from metabo.pretrained import TrainedAF, artifacts, load
from metabo.space import Parameter, Space
from metabo.space.schema import first_difference

AF = str | Path | AcquisitionFunction | Policy
GENERAL = "gp-matern52"
"""The artifact for users who name none: trained on samples of a GP, for any dimension and unit."""


@dataclass(frozen=True, eq=False)
class Proposer:
    """A policy in a space, and what it was made of."""

    policy: Policy
    space: Space
    identity: dict[str, object]
    """What a journal keeps of it: kind and name, and an artifact's hash."""
    artifact: TrainedAF | None
    configurations: Configurations | None
    """What the policy proposes among; None for the whole space."""


def proposer(
    af: AF,
    space: Space | Mapping[str, Parameter] | None,
    search: SearchName,
    candidates: CandidatesName | None = None,
) -> Proposer:
    """What `af` proposes in a space; an artifact brings its own.

    Args:
        af: A classical method by name (`ei`, `ucb:beta=9`), an artifact by name or file, or an
            acquisition function or policy itself.
        space: Parameters by name; None for the artifact's.
        search: How acquisition functions are maximized.
        candidates: What may be proposed, as for `configurations`.
    """
    chosen = resolved(af)
    artifact = chosen if isinstance(chosen, TrainedAF) else None
    where = _space(space, artifact)
    few = configurations(candidates, artifact, where)
    domain, finder = in_space(search, where, None if few is None else few.domain)
    if isinstance(chosen, NeuralAF):
        _require_dim(chosen, where)
    if isinstance(chosen, str):
        policy = classical(chosen, domain, finder)
    elif isinstance(chosen, Policy):
        policy = chosen
    elif isinstance(chosen, NeuralAF):
        policy = learned(chosen, domain, finder)
    else:
        policy = Maximize(chosen, finder)
    return Proposer(policy, where, _identity(chosen), artifact, few)


def default_af(budget: int | None) -> str:
    """What is taken where no AF is named: the general one, if there is a budget to plan with."""
    return GENERAL if budget is not None and GENERAL in artifacts() else "logei"


def resolved(af: AF) -> str | AcquisitionFunction | Policy:
    """The classical method by name, or the object; an artifact is loaded."""
    if isinstance(af, str) and parse(af)[0] in CLASSICAL:
        return af.strip()
    if isinstance(af, str | Path):
        is_named = isinstance(af, Path) or af.endswith(".safetensors")
        is_file = is_named or kind_of(Path(af), "artifact") != "missing"
        if not is_file and af not in artifacts():
            raise unknown("acquisition function", str(af), (*CLASSICAL, *artifacts()))
        return load(af)
    if not isinstance(af, Policy | AcquisitionFunction):
        raise OptionError(
            "`af` must be a name, a file, an acquisition function or a policy, but got "
            f"{brief(af)}."
        )
    return af


def _space(given: Space | Mapping[str, Parameter] | None, artifact: TrainedAF | None) -> Space:
    if not isinstance(given, Space | Mapping | None):
        raise OptionError(
            f"`space` must give parameters by name, such as {{'x': metabo.Float(0, 1)}}, but is "
            f"{brief(given)}."
        )
    space = Space(dict(given)) if isinstance(given, Mapping) else given
    if artifact is None or artifact.architecture.is_for_any_dimension:
        if space is None:
            raise OptionError(
                "An `Optimizer` needs a `space`, such as `{'x': metabo.Float(0, 1)}`, unless `af` "
                "is an artifact trained for one, which brings its own.",
                shell="A run needs a space. Give a JSON file of parameters with `--space FILE`, "
                "or an artifact that was trained for one with `--artifact`.",
            )
        return space
    difference = None if space is None else first_difference(space, artifact.space)
    if difference is not None:
        raise OptionError(
            f"The space differs from that of the artifact `{artifact.path.stem}`: {difference}. "
            "Leave out `space` to take the artifact's.",
            shell=f"The space differs from that of the artifact `{artifact.path.stem}`: "
            f"{difference}. Leave out `--space` to take the artifact's.",
        )
    return artifact.space


def _require_dim(af: NeuralAF, space: Space) -> None:
    shape = af.architecture
    if shape.dim != space.dim and not shape.is_for_any_dimension:
        raise ShapeError(
            f"The acquisition function scores points of {shape.dim} coordinates, but the space "
            f"has {space.dim}. Give the space it was trained for."
        )


def _identity(chosen: str | AcquisitionFunction | Policy) -> dict[str, object]:
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
