"""The runs behind a study of another library, which stores the history."""

from collections.abc import Callable
from dataclasses import replace
from json import dumps

from metabo.optimizer import Direction, Optimizer, RunSettings
from metabo.optimizer.af import AF, default_af, resolved
from metabo.optimizer.settings import StudyOptions
from metabo.optimizer.setup import Setup, setup
from metabo.pretrained import TrainedAF
from metabo.rules import MAX_BUDGET
from metabo.space import Space
from metabo.space.schema import to_json


def study_settings(artifact: AF | None, options: StudyOptions, *, seed: int) -> RunSettings:
    """Return the settings of a study; without an artifact and a budget, its length is unlimited.

    Raises:
        OptionError: If an option is not accepted.
        DataError: If an artifact's file cannot be read.
    """
    given = RunSettings(**options, af=artifact, seed=seed)
    chosen = resolved(default_af(given.budget) if given.af is None else given.af)
    usual = chosen.budget if isinstance(chosen, TrainedAF) else MAX_BUDGET
    return replace(given, af=chosen, budget=usual if given.budget is None else given.budget)


class StudyRuns:
    """Creates an optimizer for each trial; parts that do not depend on the history are shared."""

    def __init__(self, settings: RunSettings, warn: Callable[[str], None]) -> None:
        """Keep the settings of the study.

        Args:
            settings: The settings from `study_settings`.
            warn: Called with a message when the budget is spent.
        """
        self.settings = settings
        self._warn = warn
        self._made: Setup | None = None

    @property
    def artifact(self) -> TrainedAF | None:
        """The artifact, if the study uses one."""
        return self.settings.af if isinstance(self.settings.af, TrainedAF) else None

    def setup(self, space: Space) -> Setup:
        """Return the setup of a run in a space, built again only if the space changes."""
        made = self._made
        # As JSON, because `Choice((0, 1)) == Choice((False, True))` in Python.
        if made is None or dumps(to_json(made.space)) != dumps(to_json(space)):
            made = self._made = setup(space, self.settings)
        return made

    def optimizer(self, space: Space, direction: Direction, n: int) -> Optimizer:
        """Return an optimizer without a history whose budget allows at least `n` evaluations."""
        made = self.setup(space)
        if n > made.budget:
            self._warn(
                f"The budget of {made.budget} trials is spent; each further trial is planned as "
                "if it were the last."
            )
        settings = replace(made.settings, budget=max(made.budget, n), direction=direction)
        return Optimizer.of(replace(made, settings=settings))
