"""`MetaBOSampler`: what an `Optimizer` with the same history asks for, whatever happens."""

import logging
import math
import pickle

import pytest
import torch

import metabo
from metabo.errors import OptionError
from metabo.optimizer import Optimizer
from metabo.seeding import generator

pytest.importorskip("optuna", reason="needs the extra `optuna`")

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from metabo.integrations.optuna import MetaBOSampler
from metabo.integrations.optuna.trials import POINT

pytestmark = pytest.mark.slow  # whole runs, which need no checks of shapes

UNIT = FloatDistribution(0.0, 1.0)
CUBE = {"x1": UNIT, "x2": UNIT}
MIXED = {
    "rate": FloatDistribution(1e-4, 1.0, log=True),
    "depth": IntDistribution(1, 8),
    "kind": CategoricalDistribution(["a", "b", "c"]),
}


@pytest.fixture(autouse=True)
def quiet():
    """No line per trial; what the sampler says reaches pytest."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    optuna.logging.enable_propagation()
    yield
    optuna.logging.disable_propagation()


def branin(number):
    return (
        metabo.family("branin")
        .sample(number + 1, generator(0, "test tasks"))
        .take(torch.tensor([number]))
    )


def value_at(task, params):
    x = torch.tensor([[[params["x1"], params["x2"]]]], dtype=torch.float64)
    return task(x).item()


def study_of(sampler, direction="maximize", **arguments):
    return optuna.create_study(sampler=sampler, direction=direction, **arguments)


def mixed_value(params):
    return (math.log10(params["rate"]) + 2) ** 2 + params["depth"] + (params["kind"] == "b")


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 10))]
)
@pytest.mark.usefixtures("unchecked")
def test_the_sampler_proposes_what_an_optimizer_proposes(number):
    task = branin(number)
    optimizer = Optimizer(af="branin", direction="maximize", seed=7)
    study = study_of(MetaBOSampler("branin", seed=7))
    for _ in range(10):
        asked = optimizer.ask()
        trial = study.ask(CUBE)
        assert trial.params == asked
        optimizer.tell(asked, value_at(task, asked))
        study.tell(trial, value_at(task, trial.params))
    points = [tuple(trial.system_attrs[POINT]) for trial in study.trials]
    assert points == [one.x for one in optimizer.history]


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize(("budget", "af"), [(None, "logei"), (12, None)])
def test_without_an_artifact_any_space_works_and_equals_an_optimizer(direction, budget, af):
    space = {"rate": metabo.Float(1e-4, 1.0, log=True), "depth": metabo.Int(1, 8)}
    space |= {"kind": metabo.Choice(("a", "b", "c"))}
    optimizer = Optimizer(space, budget=budget or 10_000, af=af, direction=direction, seed=3)
    study = study_of(MetaBOSampler(budget=budget, seed=3, search_space=MIXED), direction)
    for _ in range(6):
        asked, trial = optimizer.ask(), study.ask(MIXED)
        assert trial.params == asked
        optimizer.tell(asked, mixed_value(asked))
        study.tell(trial, mixed_value(trial.params))


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_a_study_goes_on_after_each_restart_as_if_never_stopped(tmp_path):
    task = branin(0)

    def objective(trial):
        return value_at(task, {name: trial.suggest_float(name, 0, 1) for name in CUBE})

    whole = study_of(MetaBOSampler("branin", seed=1))
    whole.optimize(objective, n_trials=5)
    url = f"sqlite:///{tmp_path}/study.db"
    study_of(MetaBOSampler("branin", seed=1), storage=url, study_name="s")
    for _ in range(5):
        again = optuna.load_study(
            study_name="s", storage=url, sampler=MetaBOSampler("branin", seed=1)
        )
        again.optimize(objective, n_trials=1)
    assert [t.params for t in again.trials] == [t.params for t in whole.trials]


def test_running_trials_are_pending(rng):
    optimizer = Optimizer(af="branin", direction="maximize", seed=0)
    study = study_of(MetaBOSampler("branin", seed=0))
    first, second = optimizer.ask_batch(2)
    running = [study.ask(CUBE), study.ask(CUBE)]
    assert [trial.params for trial in running] == [first, second]
    third = study.ask(CUBE)
    assert third.params == optimizer.ask(pending=[first, second])
    study.tell(running[1], 0.5)
    optimizer.tell(second, 0.5)
    assert study.ask(CUBE).params == optimizer.ask(pending=[first, third.params])


def test_trials_that_ask_at_the_same_moment_get_different_points():
    study = study_of(MetaBOSampler("branin", seed=0))
    expected = Optimizer(af="branin", direction="maximize", seed=0).ask_batch(3)
    trials = [study.ask() for _ in range(3)]  # none has suggested anything yet
    values = [
        {name: trial.suggest_float(name, 0, 1) for name in CUBE} for trial in reversed(trials)
    ]
    assert values[0] == expected[2]
    assert len({tuple(value.items()) for value in values}) == 3


@pytest.mark.usefixtures("unchecked")
def test_failed_pruned_and_infinite_trials_count_as_an_optimizer_would_count_them():
    sampler = MetaBOSampler("branin", seed=0)
    study = study_of(sampler)
    optimizer = Optimizer(af="branin", direction="maximize", seed=0)
    ends = [
        ("complete", 0.3),
        ("fail", None),
        ("pruned", 0.1),
        ("pruned", None),
        ("complete", math.inf),
        ("complete", 0.4),
    ]
    for state, value in ends:
        trial, asked = study.ask(CUBE), optimizer.ask()
        assert trial.params == asked
        if state == "pruned" and value is not None:
            trial.report(-1.0, 0)
            trial.report(value, 1)
        told = value if state == "complete" else None
        study.tell(trial, told, state=TrialState[state.upper()])
        if value is not None and math.isfinite(value):
            optimizer.tell(asked, value)
        else:
            optimizer.tell_failure(asked)
    assert study.ask(CUBE).params == optimizer.ask()


def test_enqueued_points_enter_the_history_unless_they_lie_outside():
    study = study_of(MetaBOSampler("branin", seed=0))
    optimizer = Optimizer(af="branin", direction="maximize", seed=0)
    study.enqueue_trial({"x1": 0.25, "x2": 0.75})
    study.tell(study.ask(CUBE), 0.1)
    optimizer.tell({"x1": 0.25, "x2": 0.75}, 0.1)
    study.enqueue_trial({"x1": 3.0, "x2": 0.5})
    with pytest.warns(UserWarning, match=r"Fixed parameter x1 with value 3.0 is out of range"):
        study.tell(study.ask(CUBE), 0.2)
    assert study.ask(CUBE).params == optimizer.ask()


@pytest.mark.parametrize(
    ("suggest", "difference"),
    [
        (lambda t: t.suggest_float("x1", 0, 1), r"parameter `x2` is missing"),
        (lambda t: t.suggest_float("y", 0, 1), r"there is no parameter `y` in it"),
        (
            lambda t: [t.suggest_float("x1", 0, 2), t.suggest_float("x2", 0, 1)],
            r"parameter `x1` is Float\(low=0.0, high=2.0, log=False\), not Float\(low=0.0, high=1",
        ),
        (lambda t: t.suggest_float("x1", 5, 6), r"parameter `x1` is Float\(low=5.0, high=6.0"),
    ],
)
def test_another_space_than_the_artifacts_is_an_error_that_names_the_difference(
    suggest, difference
):
    study = study_of(MetaBOSampler("branin"))

    def objective(trial):
        suggest(trial)
        return 0.0

    with pytest.raises(OptionError, match=rf"artifact `branin`: {difference}"):
        study.optimize(objective, n_trials=1)


def test_arguments_that_do_not_fit_are_refused_at_once(unchecked):
    with pytest.raises(OptionError, match=r"parameter `x1` is missing"):
        MetaBOSampler("branin", search_space={"a": UNIT, "b": UNIT})
    with pytest.raises(OptionError, match=r"Did you mean `branin`"):
        MetaBOSampler("barnin")
    with pytest.raises(OptionError, match=r"`budget` must be a whole number"):
        MetaBOSampler(budget=0)
    with pytest.raises(OptionError, match=r"`budget` must be a whole number in .*but got 'a'"):
        MetaBOSampler(budget="a")


def test_conditional_parameters_are_sampled_by_themselves_and_logged_once(caplog):
    study = study_of(MetaBOSampler(seed=0))

    def objective(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        x = trial.suggest_float("x", 0, 1)
        return x + (trial.suggest_float("extra", 0, 1) if kind == "b" else 0)

    with caplog.at_level(logging.WARNING):
        study.optimize(objective, n_trials=8)
    said = [r.getMessage() for r in caplog.records if "`extra` is sampled ind" in r.message]
    assert len(said) == 1
    assert "conditional" in said[0]
    assert not [r for r in caplog.records if "`x`" in r.message or "`kind`" in r.message]


def test_beyond_the_budget_trials_go_on_and_it_is_said_once(caplog):
    study = study_of(MetaBOSampler("branin", budget=2, seed=0))
    with caplog.at_level(logging.WARNING):
        for _ in range(4):
            study.tell(study.ask(CUBE), 0.0)
    said = [r for r in caplog.records if "budget of 2 trials is spent" in r.message]
    assert len(said) == 1
    assert len(study.trials) == 4


def test_when_all_points_are_known_trials_repeat_and_it_is_said_once(caplog):
    space = {"a": CategoricalDistribution([1, 2]), "b": IntDistribution(0, 1)}
    study = study_of(MetaBOSampler(seed=0, search_space=space))
    with caplog.at_level(logging.WARNING):
        for _ in range(6):
            trial = study.ask(space)
            study.tell(trial, float(trial.params["a"] * trial.params["b"]))
    assert len({tuple(t.params.values()) for t in study.trials[:4]}) == 4
    assert len([r for r in caplog.records if "All points" in r.message]) == 1


@pytest.mark.usefixtures("unchecked")
def test_threads_share_a_sampler():
    task = branin(0)
    study = study_of(MetaBOSampler("branin", seed=0))

    def objective(trial):
        return value_at(task, {name: trial.suggest_float(name, 0, 1) for name in CUBE})

    study.optimize(objective, n_trials=8, n_jobs=4)
    # Two that overlap while a third finishes may meet.
    assert len({tuple(t.params.values()) for t in study.trials}) >= 7
    assert all(t.state == TrialState.COMPLETE for t in study.trials)


def test_independent_draws_depend_on_seed_trial_and_name_only():
    def drawn(seed):
        study = study_of(MetaBOSampler(seed=seed))
        trial = study.ask()
        return [trial.suggest_float(name, 0, 1) for name in ("a", "b")]

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)
    assert len(set(drawn(0))) == 2
    assert drawn(None) != drawn(None)


def test_a_pickled_sampler_proposes_the_same():
    sampler = MetaBOSampler("branin", seed=0)
    copy = pickle.loads(pickle.dumps(sampler))
    assert study_of(sampler).ask(CUBE).params == study_of(copy).ask(CUBE).params
