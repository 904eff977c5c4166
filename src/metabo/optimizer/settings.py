"""`RunSettings`: the options of a run, each declared once.

`Optimizer`, the header of a journal, the Optuna sampler, the Ax node and `metabo init` all build
and pass on this one object. A new option is a field here, and a key of `StudyOptions`, which tells
type checkers the same names.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import TypedDict, TypeVar, cast, get_args

from metabo.errors import DataError, brief, shown, unknown
from metabo.gp import Prior
from metabo.optimizer.af import AF, AF_RULE, identity, is_same_af
from metabo.optimizer.configurations import CandidatesName
from metabo.optimizer.evaluation import Direction
from metabo.optimizer.surrogate import PriorName
from metabo.policies import SEARCHES, SearchName
from metabo.rules import BUDGET, SEED, Rule, one_of

_F = TypeVar("_F", bound=Callable[..., object])
_ALWAYS = object()
"""Marks an option that every journal has."""
_DIRECTION = one_of(*get_args(Direction))
_PRIOR_NAMES = one_of(*get_args(PriorName))
_PRIOR = Rule(
    f"{_PRIOR_NAMES.form} or a `Prior`",
    lambda v: isinstance(v, Prior) or _PRIOR_NAMES.accepts(v),
    _PRIOR_NAMES.choices,
)


def _by(rule: Rule, *, before: object = _ALWAYS) -> dict[str, object]:
    """Return the metadata of a field; None is accepted where it is the default.

    Args:
        rule: The rule for the field's values.
        before: The value to assume in journals that are older than the option.
    """
    return {"rule": rule, "before": before}


class StudyOptions(TypedDict, total=False):
    """The options of a run that Optuna and Ax take under the same names; see `RunSettings`."""

    budget: int | None
    prior: Prior | PriorName | None
    search: SearchName
    candidates: CandidatesName | None


class RunOptions(StudyOptions, total=False):
    """The options of a run as keywords; see `RunSettings`."""

    af: AF | None
    direction: Direction | None
    seed: int


@dataclass(frozen=True)
class Difference:
    """The first field in which two settings differ."""

    name: str
    """The field's name."""
    own: str
    """The value in the settings whose `difference` was called, in words."""
    other: str
    """The value in the settings they were compared with, in words."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RunSettings:
    """The options of a run, checked when they are created.

    Examples:
        >>> settings = RunSettings(budget=20, af="ei")
        >>> settings.seed, settings.search
        (0, 'gradient')
        >>> settings.difference(RunSettings(budget=30, af="ei"))
        Difference(name='budget', own='20', other='30')
    """

    budget: int | None = field(default=None, metadata=_by(BUDGET))
    """The number of evaluations in the whole run, which a learned AF plans with. None takes the
    artifact's budget."""
    af: AF | None = field(default=None, metadata=_by(AF_RULE))
    """The acquisition function: a classical method (`ei`, `logei`, `pi`, `ucb:beta=9`, `random`),
    an artifact by name or file, or an acquisition function or policy object. None takes the
    learned AF for any space, `gp-matern52`, where it is installed, and `logei` otherwise."""
    direction: Direction | None = field(default=None, metadata=_by(_DIRECTION))
    """Whether to `minimize` or `maximize`. None takes the direction of the table that the artifact
    was trained on, and `minimize` where there is none."""
    seed: int = field(default=0, metadata=_by(SEED))
    """The random seed. Random numbers are a function of this seed and of the step."""
    prior: Prior | PriorName | None = field(default=None, metadata=_by(_PRIOR))
    """The GP's prior: the `artifact`'s own, one `fitted` to the history, or a `Prior`. None takes
    the artifact's where there is one and `fitted` otherwise. A fitted prior sees standardized
    values; the others see values as told, because a learned AF knows the scale of its training."""
    search: SearchName = field(default="gradient", metadata=_by(one_of(*SEARCHES)))
    """How the acquisition function is maximized: `gradient`, `grid` or `sobol`."""
    candidates: CandidatesName | None = field(
        default=None, metadata=_by(one_of(*get_args(CandidatesName)), before="space")
    )
    """What may be proposed: the configurations of the `table` that the artifact was trained on, or
    any point of the `space`. None takes the table's configurations where there are any."""

    def __post_init__(self) -> None:
        """Check each option by its rule."""
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None or one.default is not None:
                one.metadata["rule"].require(one.name, value)

    def to_json(self) -> dict[str, object]:
        """Convert the options to the form in the header of a journal.

        Returns:
            A value for each option, ready for JSON.

        Raises:
            OptionError: If the acquisition function is unknown.
        """
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        af = None if self.af is None else identity(self.af)
        return plain | {"af": af, "prior": _prior_record(self.prior)}

    @classmethod
    def from_json(cls, record: Mapping[str, object], *, af: AF | None = None) -> "RunSettings":
        """Read the options that `to_json` wrote; other fields of the record are ignored.

        Args:
            record: The header of a journal, of any version.
            af: The acquisition function, if it was an object or its file has moved.

        Returns:
            The options in the record.

        Raises:
            DataError: If an option is missing or not accepted.
        """
        values: dict[str, object] = {}
        for one in fields(cls):
            value = record.get(one.name, one.metadata["before"])
            if value is _ALWAYS:
                raise DataError(f"`{one.name}` is missing.")
            if one.name == "af":
                value = _read_af(value) if af is None else af
            elif one.name == "prior":
                value = _read_prior(value)
            elif value is None and one.default is None:
                pass  # not chosen yet
            elif not one.metadata["rule"].accepts(value):
                form = one.metadata["rule"].form
                raise DataError(f"`{one.name}` must be {form}, but is {brief(value)}.")
            values[one.name] = value
        return cls(**cast(RunOptions, values))

    def difference(self, other: "RunSettings | Mapping[str, object]") -> Difference | None:
        """Find the first option in which these settings differ from others.

        Args:
            other: The other settings, or their record from `to_json`.

        Returns:
            The option's name and both values, or None if the settings are the same. An artifact
            that was moved, or saved again with the same weights, is the same.
        """
        theirs = other.to_json() if isinstance(other, RunSettings) else other
        for one in fields(self):
            own, their = self.to_json()[one.name], theirs.get(one.name, one.metadata["before"])
            if one.name == "af":
                if not is_same_af(self.af, their):
                    return Difference("af", *_af_texts(own, their))
            elif their is _ALWAYS or _dumped(own) != _dumped(their):
                return Difference(one.name, _text(own), _text(their))
        return None


def combined(settings: RunSettings | None, options: RunOptions) -> RunSettings:
    """Return settings with some options replaced; None stands for the defaults.

    Raises:
        OptionError: If an option is not accepted, or the settings are not a `RunSettings`.
    """
    given = RunSettings() if settings is None else settings
    form = "a `RunSettings`, such as `RunSettings(budget=20)`"
    Rule(form, lambda v: isinstance(v, RunSettings)).require("settings", given)
    return replace(given, **options)


def spelled_out(*left_out: str) -> Callable[[_F], _F]:
    """Let `help` list the options of a run one by one where a function takes `**options`.

    A keyword that is not listed is refused in the name of that function.

    Args:
        left_out: The options that the function does not take.
    """

    def decorate(function: _F) -> _F:
        signature = inspect.signature(function)
        given = [one for one in signature.parameters.values() if one.kind != one.VAR_KEYWORD]
        options = [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type
            )
            for one in fields(RunSettings)
            if one.name not in left_out and one.name not in signature.parameters
        ]
        spelled = signature.replace(parameters=[*given, *options])
        named = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def checked(*arguments: object, **keywords: object) -> object:
            for name in keywords:
                if name not in spelled.parameters:
                    known = [one for one in spelled.parameters if one != "self"]
                    raise TypeError(str(unknown(f"argument of `{named}`", name, known)))
            return function(*arguments, **keywords)

        setattr(checked, "__signature__", spelled)  # noqa: B010
        return cast(_F, checked)

    return decorate


def _prior_record(prior: Prior | PriorName | None) -> dict[str, object]:
    if isinstance(prior, Prior):
        return {"kind": "given", **prior.record()}
    return {"kind": "unused" if prior is None else prior}


def _read_prior(record: object) -> Prior | str | None:
    kind = record.get("kind") if isinstance(record, Mapping) else None
    if kind == "given" and isinstance(record, Mapping):
        return Prior.read(record)
    if kind in get_args(PriorName):
        return cast(str, kind)
    if kind == "unused":
        return None
    raise DataError(f"`prior` must be the record of a prior, but is {brief(record)}.")


def _read_af(record: object) -> str | None:
    if record is None:
        return None
    name = record.get("name") if isinstance(record, Mapping) else None
    if not isinstance(name, str):
        raise DataError(f"`af` must be the record of an AF, but is {brief(record)}.")
    return name


def _af_texts(own: object, other: object) -> tuple[str, str]:
    """Return the names of two AFs, or the beginnings of their hashes if the names are equal."""
    records = [one if isinstance(one, Mapping) else {} for one in (own, other)]
    is_named_alike = records[0].get("name") == records[1].get("name")
    texts = [str(one.get("sha256" if is_named_alike else "name")) for one in records]
    mine, theirs = (_text(text[:12] if is_named_alike else text) for text in texts)
    return mine, theirs


def _dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _text(value: object) -> str:
    if value is _ALWAYS:
        return "nothing"
    return f"`{shown(value)}`" if isinstance(value, str) else shown(json.dumps(value))
