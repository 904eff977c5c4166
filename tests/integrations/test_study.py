"""What the plug-ins of other libraries have in common."""

import pytest

from metabo import Choice, Float, Space
from metabo.errors import OptionError
from metabo.integrations.study import StudyRuns, study_settings
from metabo.optimizer import configurations
from metabo.pretrained import load
from metabo.rules import MAX_BUDGET

SPACE = Space.cube(2)


def runs_of(artifact=None, **options):
    said = []
    return StudyRuns(study_settings(artifact, options, seed=3), said.append), said


def test_the_length_of_a_study_is_given_the_artifacts_or_unlimited():
    assert runs_of("branin")[0].settings.budget == load("branin").budget
    assert runs_of("branin", budget=7)[0].settings.budget == 7
    assert runs_of("ei")[0].settings.budget == MAX_BUDGET


def test_what_proposes_is_made_once_for_a_space():
    runs, _ = runs_of("ei", budget=5)
    made = runs.setup(SPACE)
    assert runs.setup(Space.cube(2)) is made
    assert runs.setup(Space({"x1": Float(0.0, 1.0), "x2": Float(0.0, 2.0)})) is not made
    first, second = (runs.optimizer(SPACE, "minimize", 1) for _ in range(2))
    first.tell({"x1": 0.5, "x2": 0.5}, 1.0)
    assert second.n_told == 0
    assert first.policy is second.policy


def test_the_configurations_of_a_table_are_built_once(monkeypatch):
    built, of = [], configurations.Configurations.of

    def counted(rows, space):
        built.append(len(rows))
        return of(rows, space)

    monkeypatch.setattr(configurations.Configurations, "of", counted)
    runs, _ = runs_of("svm")
    space = runs.artifact.space
    assert runs.artifact.configurations is not None
    for _ in range(3):
        assert (
            runs.optimizer(space, "maximize", 1).configurations is runs.setup(space).configurations
        )
    assert built == [len(runs.artifact.configurations)]


def test_a_direction_and_a_longer_run_do_not_change_the_study():
    runs, said = runs_of("ei", budget=2)
    assert runs.optimizer(SPACE, "maximize", 1).direction == "maximize"
    assert runs.optimizer(SPACE, "minimize", 1).direction == "minimize"
    assert not said
    assert runs.optimizer(SPACE, "minimize", 5).budget == 5
    assert runs.optimizer(SPACE, "minimize", 1).budget == 2
    assert said == [
        "The budget of 2 trials is spent; each further trial is planned as if it were the last."
    ]


def test_choices_that_python_calls_equal_are_other_spaces():
    runs, _ = runs_of("random", budget=2)
    for values in ((0, 1), (False, True), (0, 1)):
        space = Space({"c": Choice(values)})
        asked = runs.optimizer(space, "minimize", 1).ask()["c"]
        assert type(asked) is type(values[0])


def test_an_option_that_a_study_decides_is_refused(unchecked):
    optuna = pytest.importorskip("metabo.integrations.optuna")
    with pytest.raises(TypeError, match=r"Unknown argument of `MetaBOSampler` `direction`"):
        optuna.MetaBOSampler("ei", budget=4, direction="maximize")


def test_wrong_options_are_refused_at_once(unchecked):
    with pytest.raises(OptionError, match=r"Unknown search `gird`. Did you mean `grid`"):
        runs_of("ei", search="gird")
    with pytest.raises(OptionError, match="`budget` must be a whole number in 1"):
        runs_of("ei", budget=0)
