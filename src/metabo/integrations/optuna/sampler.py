"""`MetaBOSampler`: each trial of a study is proposed by an `Optimizer` with the same history."""

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, Unpack

import torch
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.logging import get_logger
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import intersection_search_space
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from metabo.errors import OptionError
from metabo.integrations.optuna.distributions import Codec, SearchSpace, distributions_of, is_known
from metabo.integrations.optuna.trials import POINT, Past, past_of
from metabo.integrations.study import StudyRuns, study_settings
from metabo.optimizer import Direction
from metabo.optimizer.af import AF
from metabo.optimizer.evaluation import key
from metabo.optimizer.settings import StudyOptions, spelled_out
from metabo.rules import MAX_BUDGET
from metabo.space import Space
from metabo.space.schema import first_difference
from metabo.state import History

_LOGGER = get_logger(f"optuna.{__name__}")


class MetaBOSampler(BaseSampler):  # type: ignore[misc]
    """Samples all parameters of a trial together, by a learned or classical AF on a GP.

    The sampler keeps nothing of a study between trials: it reads the history from the storage, so
    any number of threads, processes and restarts can work on one study. Give them all the same
    arguments, `seed` included.

    Examples:
        >>> import optuna
        >>> study = optuna.create_study(sampler=MetaBOSampler("ei", budget=4, seed=0))
        >>> study.optimize(lambda trial: trial.suggest_float("x", -1, 2) ** 2, n_trials=4)
        >>> len(study.trials), study.best_value <= 4
        (4, True)
    """

    @spelled_out("af", "direction")
    def __init__(
        self,
        artifact: AF | None = None,
        *,
        seed: int | None = None,
        search_space: Mapping[str, BaseDistribution] | None = None,
        warn_independent_sampling: bool = True,
        **options: Unpack[StudyOptions],
    ) -> None:
        """Create a sampler.

        Args:
            artifact: A learned AF by name or file, or anything else that `Optimizer` takes as its
                `af`. None takes, for any space and with a fitted prior, the learned AF
                `gp-matern52` if a `budget` is given, and log expected improvement, which needs no
                budget, otherwise.
            seed: The random seed for ties and independent samples; None draws one.
            search_space: Distributions by name. None takes those that the artifact was trained
                for, or those that all finished trials have in common.
            warn_independent_sampling: Whether to log why a parameter is sampled independently.
            options: Options of the run as in `metabo.Optimizer`: `budget` (the total number of
                trials, which a learned AF plans with; None takes the artifact's), `prior`,
                `search` and `candidates`.

        Raises:
            OptionError: If an option is not accepted or does not fit the search space.
            DataError: If an artifact's file cannot be read.
        """
        seed = secrets.randbits(32) if seed is None else seed
        settings = study_settings(artifact, options, seed=seed)
        self._runs = StudyRuns(settings, partial(self._log_once, "budget"))
        self._warns = warn_independent_sampling
        self._logged: set[str] = set()
        own = self._runs.artifact
        is_for_any = own is None or own.architecture.is_for_any_dimension
        self._trained_for = None if is_for_any else own
        self._known = None if search_space is None else dict(search_space)
        is_from_table = settings.candidates == "table"
        if self._known is None and own is not None and (not is_for_any or is_from_table):
            self._known = distributions_of(own.space)
        # Options that do not fit are refused here rather than in the first trial.
        example = {"x": FloatDistribution(0.0, 1.0)} if self._known is None else self._known
        self._runs.setup(SearchSpace.of(example).space)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the given space, the artifact's, or what all finished trials have in common."""
        if self._known is not None:
            return dict(self._known)
        common = intersection_search_space(study.get_trials(deepcopy=False))
        return {name: one for name, one in common.items() if is_known(one)}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Choose the parameters of the next trial, given all trials of the study.

        Running trials count as evaluated with the value that the model expects. Trials that seem
        to be asking at the same moment are assumed to get their proposals in the order of their
        numbers, so that workers choose different points without communicating.
        """
        self._raise_error_if_multi_objective(study)
        if not search_space:
            self._store(study, trial, [])
            return {}
        space = SearchSpace.of(search_space)
        past = past_of(trial, study.get_trials(deepcopy=False), space)
        n_left = self._n_left(space, past)
        if n_left < 1:
            self._log_once(
                "all points",
                "All points that may be proposed are evaluated or under way. Further trials are "
                "drawn at random.",
            )
            return self._at_random(study, trial, search_space)
        n_ahead = min(past.n_ahead, n_left - 1)
        n_known = len(past.told) + len(past.pending) + n_ahead
        is_maximized = study.direction == StudyDirection.MAXIMIZE
        direction: Direction = "maximize" if is_maximized else "minimize"
        optimizer = self._runs.optimizer(space.space, direction, n_known + 1)
        optimizer.take_up(past.told)
        chosen = optimizer.propose(n_ahead + 1, pending=past.pending)[-1]
        self._store(study, trial, list(chosen.point))
        return space.decode(chosen.params)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Draw a parameter at random, before the space is known or if it is not part of it."""
        self._raise_error_if_multi_objective(study)
        self._require_trained_for(trial.distributions | {param_name: param_distribution})
        if self._warns and (self._known is not None or _is_any_finished(study)):
            self._log_once(
                param_name,
                f"Parameter `{param_name}` is sampled independently: it is not part of the "
                "search space that all trials have in common, because it is conditional, its "
                "range changes, or it is not in `search_space`.",
            )
        return self._draw(study, trial, param_name, param_distribution)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Refuse a finished trial whose space is not the artifact's."""
        if state == TrialState.COMPLETE:
            self._require_trained_for(trial.distributions, is_complete=True)

    def _n_left(self, space: SearchSpace, past: Past) -> int:
        """Count the points neither evaluated nor under way; `MAX_BUDGET` if a `Float` varies."""
        known = (*past.told, *past.pending)
        few = self._runs.setup(space.space).configurations
        if few is not None:
            x = torch.cat([few.domain.points[:0], *(one.point for one in known)])
            return few.n_left(History(x[None], x[None, :, 0]))
        size = space.space.size
        return MAX_BUDGET if size is None else size - len({key(one.params) for one in known})

    def _require_trained_for(
        self, distributions: Mapping[str, BaseDistribution], *, is_complete: bool = False
    ) -> None:
        """Raise `OptionError` if the artifact was trained for another space than a trial's."""
        if self._trained_for is None:
            return
        known = self._trained_for.space
        suggested = {n: Codec.of(one) for n, one in distributions.items() if is_known(one)}
        given = {name: codec.parameter for name, codec in suggested.items()}
        missing = [name for name in known.parameters if name not in given]
        difference = first_difference(Space({**known.parameters, **given}), known)
        if difference is None and is_complete and missing:
            difference = f"parameter `{missing[0]}` is missing"
        if difference is not None:
            raise OptionError(
                "The trial's search space differs from that of the artifact "
                f"`{self._trained_for.path.stem}`: {difference}. Suggest the artifact's "
                "parameters, or use another `artifact`."
            )

    def _at_random(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        self._store(study, trial, [])
        return {name: self._draw(study, trial, name, one) for name, one in search_space.items()}

    def _draw(
        self, study: Study, trial: FrozenTrial, name: str, distribution: BaseDistribution
    ) -> Any:
        """Draw a uniform value that depends on the seed, the trial's number and the name only."""
        text = f"{self._runs.settings.seed}/{trial.number}/{name}"
        digest = blake2b(text.encode(), digest_size=4).digest()
        random = RandomSampler(seed=int.from_bytes(digest, "little"))
        return random.sample_independent(study, trial, name, distribution)

    def _store(self, study: Study, trial: FrozenTrial, point: list[float]) -> None:
        study._storage.set_trial_system_attr(trial._trial_id, POINT, point)

    def _log_once(self, about: str, message: str) -> None:
        if about not in self._logged:
            self._logged.add(about)
            _LOGGER.warning(message)


def _is_any_finished(study: Study) -> bool:
    return bool(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)))
