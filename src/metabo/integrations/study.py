"""The runs behind a study of another library, which keeps the history itself."""

from collections.abc import Callable
from dataclasses import replace

from metabo.optimizer import Direction, Optimizer, RunSettings
from metabo.optimizer.af import AF, default_af, resolved
from metabo.optimizer.settings import StudyOptions
from metabo.optimizer.setup import Setup, setup
from metabo.pretrained import TrainedAF
from metabo.rules import MAX_BUDGET
from metabo.space import Space


def study_settings(artifact: AF | None, options: StudyOptions, *, seed: int) -> RunSettings:
    """The settings of a study: without an artifact and a budget its length is not limited.

    Raises:
        OptionError: If an option is not accepted.
        DataError: If an artifact's file cannot be read.
    """
    given = RunSettings(**options, af=artifact, seed=seed)
    chosen = resolved(default_af(given.budget) if given.af is None else given.af)
    usual = chosen.budget if isinstance(chosen, TrainedAF) else MAX_BUDGET
    return replace(given, af=chosen, budget=usual if given.budget is None else given.budget)


class StudyRuns:
    """Gives a new optimizer for each trial; what does not depend on the history is made once."""

    def __init__(self, settings: RunSettings, warn: Callable[[str], None]) -> None:
        """Keep the settings of the study.

        Args:
            settings: As `study_settings` gives them.
            warn: Called with a message when the budget is spent.
        """
        self.settings = settings
        self._warn = warn
        self._made: Setup | None = None

    @property
    def artifact(self) -> TrainedAF | None:
        """The learned AF, if it is one."""
        return self.settings.af if isinstance(self.settings.af, TrainedAF) else None

    def setup(self, space: Space) -> Setup:
        """What proposes in a space, made again only when a trial has another space."""
        made = self._made
        is_known = made is not None and list(made.space.parameters.items()) == list(
            space.parameters.items()
        )
        if made is None or not is_known:
            made = self._made = setup(space, self.settings)
        return made

    def optimizer(self, space: Space, direction: Direction, n: int) -> Optimizer:
        """An optimizer without a history, with a budget for at least `n` evaluations."""
        made = self.setup(space)
        if n > made.budget:
            self._warn(
                f"The budget of {made.budget} trials is spent; each further one is planned as if "
                "it were the last."
            )
        settings = replace(made.settings, budget=max(made.budget, n), direction=direction)
        return Optimizer.of(replace(made, settings=settings))
