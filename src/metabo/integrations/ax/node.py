"""Acquisition functions of metabo in Ax: a generation node whose trials an `Optimizer` proposes.

Ax's own generators standardize values and do not know the step of a run, but a learned AF needs
raw values and the step. An external node gets the experiment itself.
"""

import logging
from typing import Any, Unpack

from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.generation_strategy.external_generation_node import ExternalGenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy

from metabo.integrations.ax.problem import Problem
from metabo.integrations.study import StudyRuns, study_settings
from metabo.optimizer import Direction, Evaluation
from metabo.optimizer.af import AF
from metabo.optimizer.settings import StudyOptions, spelled_out

_LOGGER = logging.getLogger(__name__)


@spelled_out("af", "direction")
def generation_strategy(
    artifact: AF | None = None,
    *,
    seed: int = 0,
    **options: Unpack[StudyOptions],
) -> GenerationStrategy:
    """Create a strategy of one `MetaBONode` for `Client.set_generation_strategy`.

    Args:
        artifact: A learned AF by name or file, or anything else that `Optimizer` takes as its
            `af`. None takes, for any search space and with a fitted prior, the learned AF
            `gp-matern52` if a `budget` is given, and log expected improvement, which needs no
            budget, otherwise.
        seed: The random seed.
        options: Options of the run as in `metabo.Optimizer`: `budget` (the total number of
            trials, which a learned AF plans with; None takes the artifact's), `prior`, `search`
            and `candidates`.

    Returns:
        A strategy with one node.

    Raises:
        OptionError: If an option is not accepted.
        DataError: If an artifact's file cannot be read.

    Examples:
        >>> from ax.api.client import Client
        >>> from ax.api.configs import RangeParameterConfig
        >>> client = Client()
        >>> x = RangeParameterConfig(name="x", parameter_type="float", bounds=(-1, 2))
        >>> client.configure_experiment(parameters=[x])
        >>> client.configure_optimization(objective="-loss")
        >>> client.set_generation_strategy(generation_strategy("ei", budget=4))
        >>> [sorted(params) for params in client.get_next_trials(max_trials=1).values()]
        [['x']]
    """
    node = MetaBONode(artifact, seed=seed, **options)
    return GenerationStrategy(name="MetaBO", nodes=[node])


class MetaBONode(ExternalGenerationNode):  # type: ignore[misc]
    """A generation node whose trials are proposed by an `Optimizer` with the experiment's history.

    Nothing is kept between trials. A failed trial counts as a failure, and an early-stopped one
    has the last value it reported. The model assumes that running, abandoned and all other trials
    without a value give the value it expects.

    Examples:
        >>> MetaBONode("ei", budget=4).name
        'MetaBO'
    """

    @spelled_out("af", "direction")
    def __init__(
        self,
        artifact: AF | None = None,
        *,
        seed: int = 0,
        name: str = "MetaBO",
        **options: Unpack[StudyOptions],
    ) -> None:
        """Create a node.

        Args:
            artifact: The acquisition function, as for `generation_strategy`.
            seed: The random seed.
            name: The name of the node.
            options: Options of the run, as for `generation_strategy`.

        Raises:
            OptionError: If an option is not accepted.
            DataError: If an artifact's file cannot be read.
        """
        # An optimizer never repeats a discrete point, and would give the same answer again.
        super().__init__(name=name, should_deduplicate=False)
        self._runs = StudyRuns(study_settings(artifact, options, seed=seed), self._warn_once)
        self._is_warned = False
        self._problem: Problem | None = None
        self._told: list[Evaluation] = []

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        """Read the present state of the experiment.

        Raises:
            OptionError: If metabo does not support such an experiment.
        """
        self._problem = Problem.of(experiment)
        self._told = self._problem.history(experiment, data)

    def get_next_candidate(self, pending_parameters: list[dict[str, Any]]) -> dict[str, Any]:
        """Choose the parameters of the next trial.

        Args:
            pending_parameters: Parameters of the trials under way.

        Returns:
            The parameters by name, including fixed ones.
        """
        assert self._problem is not None
        pending = [self._problem.free(parameters) for parameters in pending_parameters]
        direction: Direction = "minimize" if self._problem.is_minimized else "maximize"
        n = len(self._told) + len(pending) + 1
        optimizer = self._runs.optimizer(self._problem.space, direction, n)
        optimizer.take_up(self._told)
        return {**self._problem.fixed, **optimizer.propose(pending=pending)[0].params}

    def _warn_once(self, message: str) -> None:
        if not self._is_warned:
            self._is_warned = True
            _LOGGER.warning(message)
