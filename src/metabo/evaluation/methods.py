"""The methods by name. A method's options are its builder's keyword parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from metabo.errors import OptionError, ShapeError, shown, unknown
from metabo.evaluation.on_prior import on_prior
from metabo.evaluation.setting import Setting
from metabo.evaluation.transfer import (
    eps_greedy,
    gmm_ucb,
    mean_rank,
    portfolio,
    taf_me,
    taf_r,
    tuned,
)
from metabo.inputs import kind_of
from metabo.options import build, declared_options, parse
from metabo.policies import CLASSICAL, Policy, informed, learned
from metabo.pretrained import TrainedAF, artifacts, first_sha256, load


@dataclass(frozen=True)
class Method:
    """A method that has been built for a setting."""

    policy: Policy
    """The policy that chooses the queries."""
    identity: dict[str, str]
    """All options, given or not, and a hash of the artifact where there is one."""


@dataclass(frozen=True)
class Learned:
    """A policy that maximizes a trained AF."""

    policy: Policy
    """The policy that chooses the queries."""
    af: TrainedAF
    """The artifact."""


def resolved(text: str, setting: Setting) -> Method:
    """Build a method given as text, such as `ei` or `ucb:beta=9`; an artifact is loaded once.

    Raises:
        OptionError: If the method or an option is unknown, or a value does not fit.
        ShapeError: If the artifact was trained for another number of dimensions.
    """
    name, options = parse(text)
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    built = build(f"method `{name}`", partial(METHODS[name], setting), options)
    known_as = _options(text, setting.family.name)
    if isinstance(built, Learned):
        return Method(built.policy, known_as | {"artifact": built.af.first_sha256[:16]})
    return Method(built, known_as)


def method(text: str, setting: Setting) -> Policy:
    """Build the policy of a method given as text, such as `ei` or `ucb:beta=9`."""
    return resolved(text, setting).policy


def _options(text: str, family: str) -> dict[str, str]:
    """Return all options of a method, given or not."""
    name, options = parse(text)
    declared = declared_options(METHODS[name])
    full = {option: str(p.default) for option, p in declared.items()} | options
    if full.get("prior") == "plain":
        full = {o: v for o, v in full.items() if o not in ("prior", "M", "N", "guard")}
    if "preset" in full:
        known = vars(tuned(parse(family)[0], full["preset"]))  # type: ignore[arg-type]
        full |= {key: str(known[key]) for key in known if full.get(key) == "None"}
    return full


def identity(text: str, family: str, artifact: str | None = None) -> dict[str, str]:
    """Return what identifies a method's stored results, without building the method."""
    full = _options(text, family)
    name, options = parse(text)
    own = parse(family)[0]
    path = artifacts().get({"metabo": own, "metabo-50": f"{own}-50"}.get(name, ""))
    given = options.get("artifact", artifact)
    if name == "metabo" and given is not None:
        path = artifacts().get(given, Path(given))
    if path is not None and kind_of(path, "artifact") == "file":
        full["artifact"] = first_sha256(path)[:16]
    return full


def _learned(artifact: str | TrainedAF, setting: Setting) -> Learned:
    """Maximize a trained AF."""
    af = _loaded(artifact, setting) if isinstance(artifact, str) else artifact
    shape, dim = af.architecture, setting.family.domain.dim
    if not shape.is_for_any_dimension and shape.dim != dim:
        raise ShapeError(
            f"The artifact `{artifact if isinstance(artifact, str) else shown(af.path)}` was "
            f"trained for points of {shape.dim} dimensions, but family `{setting.family.name}` "
            f"has {dim}. Give one trained for it with `--artifact`."
        )
    policy = learned(af.to(setting.device), setting.family.domain, setting.search)
    part = af.learned_part
    return Learned(informed(policy, None if part is None else part.to(setting.device)), af)


def _loaded(name: str, setting: Setting) -> TrainedAF:
    """Load the artifact of this name or in this file."""
    if name not in artifacts() and kind_of(Path(name), "artifact") == "missing":
        few = " --sources 50" if name.endswith("-50") else ""
        raise OptionError(
            f"There is no artifact `{shown(name)}`. Choose one with `--artifact`: "
            f"{', '.join(artifacts())}; or train one with `metabo train "
            f"{setting.family.name}{few}` and give its file."
        )
    return load(name)


def _metabo(setting: Setting, *, artifact: str | None = None) -> Learned:
    """The learned acquisition function of the family, or the one given with --artifact."""
    return _learned(artifact or setting.artifact or setting.family.name, setting)


def _metabo_50(setting: Setting) -> Learned:
    """The learned acquisition function trained on 50 source tasks of the family."""
    return _learned(f"{setting.family.name}-50", setting)


METHODS: Mapping[str, Callable[..., Policy | Learned]] = MappingProxyType(
    {
        "metabo": _metabo,
        "metabo-50": _metabo_50,
        **{name: on_prior(name) for name in CLASSICAL},
        "taf-me": taf_me,
        "taf-r": taf_r,
        "gmm-ucb": gmm_ucb,
        "eps-greedy": eps_greedy,
        "mean-rank": mean_rank,
        "portfolio": portfolio,
    }
)
"""Builders of the methods for a setting; keyword-only parameters are the method's options."""
