"""Acquisition functions of metabo in Ax: a generation node whose trials an `Optimizer` asks for.

Ax's own generators standardize values and build an acquisition function without being told how far
a run has come; a learned AF needs both as they are. An external node gets the experiment itself.
"""

import logging
from typing import Any

from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.generation_strategy.external_generation_node import ExternalGenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy

from metabo.gp import Prior
from metabo.integrations.ax.problem import Problem
from metabo.optimizer import Evaluation, Optimizer
from metabo.optimizer.configurations import CandidatesName
from metabo.optimizer.proposer import AF, default_af, resolved
from metabo.optimizer.surrogate import PriorName
from metabo.policies import SearchName
from metabo.pretrained import TrainedAF
from metabo.rules import BUDGET, MAX_BUDGET

_LOGGER = logging.getLogger(__name__)


def generation_strategy(
    artifact: AF | None = None,
    *,
    budget: int | None = None,
    seed: int = 0,
    prior: Prior | PriorName | None = None,
    search: SearchName = "gradient",
    candidates: CandidatesName | None = None,
) -> GenerationStrategy:
    """A strategy for `Client.set_generation_strategy`: a `MetaBONode` and nothing else.

    Args:
        artifact: A learned AF by name or file, or anything else that `Optimizer` takes as its
            `af`. None, in any search space and with a fitted prior, for the learned AF
            `gp-matern52` if a `budget` is given, and else for log expected improvement, which
            needs none.
        budget: Trials in all, which a learned AF plans with; None for the artifact's.
        seed: Of the random numbers, as in `Optimizer`.
        prior: Of the GP, as in `Optimizer`.
        search: How an acquisition function is maximized, as in `Optimizer`.
        candidates: What may be proposed, as in `Optimizer`.
    """
    node = MetaBONode(
        artifact, budget=budget, seed=seed, prior=prior, search=search, candidates=candidates
    )
    return GenerationStrategy(name="MetaBO", nodes=[node])


class MetaBONode(ExternalGenerationNode):  # type: ignore[misc]
    """Generates what an `Optimizer` with the experiment's history asks for.

    Nothing is kept between trials. Failed trials count as failures, early-stopped ones by the
    last value they gave; running, abandoned and all others without a value count as having given
    what the model expects.
    """

    def __init__(
        self,
        artifact: AF | None = None,
        *,
        budget: int | None = None,
        seed: int = 0,
        prior: Prior | PriorName | None = None,
        search: SearchName = "gradient",
        candidates: CandidatesName | None = None,
        name: str = "MetaBO",
    ) -> None:
        """Choose what generates.

        Args:
            artifact: As in `generation_strategy`, like all that follow.
            budget: Trials in all.
            seed: Of the random numbers.
            prior: Of the GP.
            search: How an acquisition function is maximized.
            candidates: What may be proposed.
            name: Of the node.
        """
        # An optimizer repeats no discrete point anyway, and answers the same if asked again.
        super().__init__(name=name, should_deduplicate=False)
        self._af = resolved(default_af(budget) if artifact is None else artifact)
        if budget is None:
            budget = self._af.budget if isinstance(self._af, TrainedAF) else MAX_BUDGET
        BUDGET.require("budget", budget)
        self._budget, self._seed, self._prior, self._search = budget, seed, prior, search
        self._candidates = candidates
        self._is_warned = False
        self._problem: Problem | None = None
        self._told: list[Evaluation] = []

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        """Take in the experiment as it is now."""
        self._problem = Problem.of(experiment)
        self._told = self._problem.history(experiment, data)

    def get_next_candidate(self, pending_parameters: list[dict[str, Any]]) -> dict[str, Any]:
        """The parameters to evaluate next."""
        assert self._problem is not None
        pending = [self._problem.free(parameters) for parameters in pending_parameters]
        n = len(self._told) + len(pending) + 1
        if n > self._budget and not self._is_warned:
            self._is_warned = True
            _LOGGER.warning(
                "The budget of %d trials is spent; each further one is planned as if it were the "
                "last.",
                self._budget,
            )
        optimizer = Optimizer(
            self._problem.space,
            budget=max(self._budget, n),
            af=self._af,
            direction="minimize" if self._problem.is_minimized else "maximize",
            seed=self._seed,
            prior=self._prior,
            search=self._search,
            candidates=self._candidates,
        )
        optimizer.take_up(self._told)
        return {**self._problem.fixed, **optimizer.ask(pending=pending)}
