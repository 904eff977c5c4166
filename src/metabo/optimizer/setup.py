"""The setup of a run: all defaults are resolved and all parts are built here, once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from metabo.acquisition import NeuralAF
from metabo.errors import OptionError, ShapeError
from metabo.optimizer.af import default_af, resolved
from metabo.optimizer.configurations import Configurations, configurations
from metabo.optimizer.evaluation import Direction
from metabo.optimizer.settings import RunSettings
from metabo.optimizer.surrogate import Surrogate, surrogate
from metabo.policies import Maximize, Policy, classical, in_space, learned
from metabo.pretrained import TrainedAF
from metabo.rules import OBJECT, Rule
from metabo.space import Parameter, Space
from metabo.space.schema import first_difference

_SPACE = Rule(
    "parameters by name, such as {'x': metabo.Float(0, 1)}",
    lambda v: isinstance(v, Space) or OBJECT.accepts(v),
)


@dataclass(frozen=True, eq=False)
class Setup:
    """The parts of a run before its first evaluation."""

    space: Space
    """The parameters of the run."""
    settings: RunSettings
    """The settings, with every default resolved and the AF loaded."""
    policy: Policy
    """The policy that chooses the next point."""
    surrogate: Surrogate
    """The surrogate that gives the GP its prior."""
    configurations: Configurations | None
    """The only points that may be proposed; None for the whole space."""

    @property
    def budget(self) -> int:
        """The number of evaluations in the whole run."""
        return cast(int, self.settings.budget)

    @property
    def direction(self) -> Direction:
        """Whether small or large values are better."""
        return cast(Direction, self.settings.direction)


def setup(space: Space | Mapping[str, Parameter] | None, settings: RunSettings) -> Setup:
    """Resolve the defaults of a run and build its parts.

    Args:
        space: Parameters by name; None for those that the artifact was trained on.
        settings: The options of the run.

    Returns:
        The parts of the run, with settings in which every default is resolved.

    Raises:
        OptionError: If something is missing or does not fit.
        ShapeError: If an AF or a prior is for a different number of coordinates.
        DataError: If an artifact's file cannot be read.
    """
    chosen = resolved(default_af(settings.budget) if settings.af is None else settings.af)
    artifact = chosen if isinstance(chosen, TrainedAF) else None
    where = _space(space, artifact)
    few = configurations(settings.candidates, artifact, where)
    domain, finder = in_space(settings.search, where, None if few is None else few.domain)
    policy: Policy
    if isinstance(chosen, str):
        policy = classical(chosen, domain, finder)
    elif isinstance(chosen, Policy):
        policy = chosen
    elif isinstance(chosen, NeuralAF):
        _require_dim(chosen, where)
        policy = learned(chosen, domain, finder)
    else:
        policy = Maximize(chosen, finder)
    model = surrogate(settings.prior, artifact, policy, where.dim)
    direction = None if artifact is None else artifact.card.get("direction")
    complete = replace(
        settings,
        af=chosen,
        budget=_budget(settings.budget, artifact),
        direction=settings.direction or cast(Direction, direction or "minimize"),
        prior=model.argument,
        candidates="space" if few is None else "table",
    )
    return Setup(where, complete, policy, model, few)


def _budget(given: int | None, artifact: TrainedAF | None) -> int:
    if given is None and artifact is None:
        raise OptionError(
            "An `Optimizer` needs a `budget`, such as `budget=30`.",
            shell="A run needs a budget. Give one, such as `--budget 30`.",
        )
    return cast(TrainedAF, artifact).budget if given is None else given


def _space(given: Space | Mapping[str, Parameter] | None, artifact: TrainedAF | None) -> Space:
    if given is not None:
        _SPACE.require("space", given)
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
