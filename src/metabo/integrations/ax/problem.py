"""An Ax experiment as a problem of metabo: a space, a direction and evaluations."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ax.core.arm import Arm
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.optimization_config import OptimizationConfig
from ax.core.parameter import ChoiceParameter, FixedParameter, ParameterType, RangeParameter
from ax.core.parameter import Parameter as AxParameter
from ax.core.search_space import SearchSpace
from ax.core.trial_status import TrialStatus

from metabo.errors import OptionError
from metabo.optimizer import Evaluation
from metabo.space import Choice, Float, Int, Parameter, Space


@dataclass(frozen=True)
class Problem:
    """One objective over named parameters, some of which may be fixed."""

    space: Space
    """The parameters that vary."""
    fixed: Mapping[str, Any]
    """Values of the fixed parameters, by name."""
    metric: str
    """Name of the metric to optimize."""
    is_minimized: bool
    """Whether small values of the metric are better."""

    @classmethod
    def of(cls, experiment: Experiment) -> "Problem":
        """Read the problem of an experiment.

        Raises:
            OptionError: If metabo does not support such a problem.
        """
        search_space, config = experiment.search_space, experiment.optimization_config
        _require_supported(search_space, config)
        parameters: dict[str, Parameter] = {}
        fixed: dict[str, Any] = {}
        for name, parameter in search_space.parameters.items():
            if isinstance(parameter, FixedParameter):
                fixed[name] = parameter.value
            else:
                parameters[name] = _parameter(parameter)
        objective = config.objective
        return cls(Space(parameters), fixed, objective.metric_names[0], objective.minimize)

    def free(self, parameters: Mapping[str, Any]) -> dict[str, object]:
        """Return the values of the parameters that vary."""
        return {name: parameters[name] for name in self.space.parameters}

    def history(self, experiment: Experiment, data: Data) -> list[Evaluation]:
        """Return the finished trials in order; those outside the search space are left out."""
        frame = data.df[data.df["metric_name"] == self.metric]
        keys = zip(frame["trial_index"], frame["arm_name"], strict=True)
        values = dict(zip(keys, frame["mean"], strict=True))
        evaluations = []
        for index, status, arm in _arms(experiment):
            value = float(values.get((index, arm.name), math.nan))
            is_known = math.isfinite(value)
            has_ended = status in (TrialStatus.COMPLETED, TrialStatus.EARLY_STOPPED)
            # Ax calls a completed trial without data, and an abandoned one, pending.
            is_failure = status == TrialStatus.FAILED or (
                status == TrialStatus.EARLY_STOPPED and not is_known
            )
            if is_failure or (has_ended and is_known):
                params = self.space.clean(self.free(arm.parameters))
                x = self.space.encode(params)
                told = None if is_failure else value
                evaluations.append(Evaluation(params, told, tuple(x.tolist())))
        return evaluations


def _arms(experiment: Experiment) -> Iterator[tuple[int, TrialStatus, Arm]]:
    for index, trial in sorted(experiment.trials.items()):
        for arm in trial.arms:
            if experiment.search_space.check_membership(arm.parameters):
                yield index, trial.status, arm


def _require_supported(search_space: SearchSpace, config: OptimizationConfig | None) -> None:
    if config is None or not config.objective.is_single_objective:
        raise OptionError("metabo optimizes one metric. Configure a single objective.")
    if config.outcome_constraints:
        raise OptionError(
            "metabo does not support outcome constraints, but there are "
            f"{config.outcome_constraints}. Leave them out."
        )
    if search_space.parameter_constraints:
        raise OptionError(
            "metabo does not support parameter constraints, but there are "
            f"{search_space.parameter_constraints}. Leave them out."
        )
    if search_space.is_hierarchical:
        raise OptionError(
            "metabo does not support hierarchical search spaces. Leave out `dependent_parameters`."
        )


def _parameter(parameter: AxParameter) -> Parameter:
    name = parameter.name
    if isinstance(parameter, ChoiceParameter):
        return Choice(tuple(parameter.values))
    if not isinstance(parameter, RangeParameter) or parameter.logit_scale or parameter.digits:
        raise OptionError(
            f"metabo does not support parameters like {parameter}. Make `{name}` a range on a "
            "linear or log scale, or a choice."
        )
    if parameter.parameter_type == ParameterType.INT:
        return Int(int(parameter.lower), int(parameter.upper), parameter.log_scale)
    return Float(parameter.lower, parameter.upper, parameter.log_scale)
