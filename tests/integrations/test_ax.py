"""A generation node for Ax: trials are what an `Optimizer` with the same history asks for."""

import logging
import math

import pytest
import torch

import metabo
from metabo.errors import OptionError
from metabo.optimizer import Optimizer

pytest.importorskip("ax", reason="needs the extra `ax`")

from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.core.parameter import FixedParameter, ParameterType
from ax.storage.json_store.load import load_experiment
from ax.storage.json_store.save import save_experiment
from ax.utils.common.logger import set_ax_logger_levels

from metabo.integrations.ax import generation_strategy

pytestmark = pytest.mark.slow  # whole runs, which need no checks of shapes


@pytest.fixture(autouse=True)
def quiet():
    """No line per trial."""
    set_ax_logger_levels(logging.WARNING)


def unit(name):
    return RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0))


MIXED = [
    RangeParameterConfig(name="rate", parameter_type="float", bounds=(1e-4, 1.0), scaling="log"),
    RangeParameterConfig(name="depth", parameter_type="int", bounds=(1, 8)),
    ChoiceParameterConfig(
        name="kind", parameter_type="str", values=["a", "b", "c"], is_ordered=False
    ),
]


def client_of(strategy, parameters=None, objective="y", **optimization):
    client = Client()
    client.configure_experiment(parameters=parameters or [unit("x1"), unit("x2")])
    client.configure_optimization(objective=objective, **optimization)
    client.set_generation_strategy(strategy)
    return client


def branin(params):
    task = metabo.family("branin").read([{"translation": [0.0, 0.0], "scale": 1.0}])
    return task(torch.tensor([[[params["x1"], params["x2"]]]], dtype=torch.float64)).item()


def only(trials):
    [(index, params)] = trials.items()
    return index, params


def test_trials_are_what_an_optimizer_asks_for():
    client = client_of(generation_strategy("branin", seed=5))
    optimizer = Optimizer(af="branin", direction="maximize", seed=5)
    for _ in range(5):
        index, params = only(client.get_next_trials(max_trials=1))
        assert params == optimizer.ask()
        client.complete_trial(index, {"y": branin(params)})
        optimizer.tell(params, branin(params))


def test_several_trials_at_once_and_running_ones_are_pending():
    client = client_of(generation_strategy("branin"))
    optimizer = Optimizer(af="branin", direction="maximize")
    trials = client.get_next_trials(max_trials=2)
    first, second = trials.values()
    assert [first, second] == optimizer.ask_batch(2)
    client.complete_trial(0, {"y": 0.5})
    optimizer.tell(first, 0.5)
    _, third = only(client.get_next_trials(max_trials=1))
    assert third == optimizer.ask(pending=[second])


def test_failed_abandoned_and_early_stopped_trials():
    client = client_of(generation_strategy("branin"))
    optimizer = Optimizer(af="branin", direction="maximize")

    def next_trial(pending=()):
        index, params = only(client.get_next_trials(max_trials=1))
        assert params == optimizer.ask(pending=pending)
        return index, params

    index, params = next_trial()
    client.mark_trial_failed(index)
    optimizer.tell_failure(params)
    index, params = next_trial()
    client.attach_data(index, {"y": 0.1}, progression=1)
    client.attach_data(index, {"y": 0.2}, progression=2)
    client.mark_trial_early_stopped(index)
    optimizer.tell(params, 0.2)
    index, abandoned = next_trial()
    client.mark_trial_abandoned(index)
    next_trial(pending=[abandoned])


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["loss", "-loss"])
@pytest.mark.parametrize(("budget", "af"), [(None, "logei"), (12, None)])
def test_without_an_artifact_any_space_works_and_fixed_parameters_stay(objective, budget, af):
    client = client_of(generation_strategy(budget=budget, seed=1), MIXED, objective)
    client._experiment.search_space.add_parameter(
        FixedParameter("batch", ParameterType.INT, value=32)
    )
    space = {"rate": metabo.Float(1e-4, 1.0, log=True), "depth": metabo.Int(1, 8)}
    space |= {"kind": metabo.Choice(("a", "b", "c"))}
    direction = "minimize" if objective == "-loss" else "maximize"
    optimizer = Optimizer(space, budget=budget or 99, af=af, direction=direction, seed=1)
    for _ in range(4):
        index, params = only(client.get_next_trials(max_trials=1))
        expected = optimizer.ask()
        assert params["batch"] == 32
        assert {name: params[name] for name in ("depth", "kind")} == {
            name: expected[name] for name in ("depth", "kind")
        }
        assert params["rate"] == pytest.approx(expected["rate"], rel=1e-6)
        assert isinstance(params["depth"], int)
        loss = (math.log10(expected["rate"]) + 2) ** 2 + expected["depth"]
        client.complete_trial(index, {"loss": loss})
        optimizer.tell(expected, loss)


def test_a_stored_experiment_goes_on(tmp_path):
    client = client_of(generation_strategy("branin"))
    for _ in range(3):
        index, params = only(client.get_next_trials(max_trials=1))
        client.complete_trial(index, {"y": branin(params)})
    path = str(tmp_path / "experiment.json")
    save_experiment(client._experiment, path)
    again = Client()
    again.set_experiment(load_experiment(path))
    again.set_generation_strategy(generation_strategy("branin"))
    _, expected = only(client.get_next_trials(max_trials=1))
    _, params = only(again.get_next_trials(max_trials=1))
    assert params == pytest.approx(expected, abs=1e-4)  # Ax stores values with ten digits


def test_attached_trials_count():
    client = client_of(generation_strategy("branin"))
    optimizer = Optimizer(af="branin", direction="maximize")
    index = client.attach_trial({"x1": 0.25, "x2": 0.75})
    client.complete_trial(index, {"y": 0.1})
    optimizer.tell({"x1": 0.25, "x2": 0.75}, 0.1)
    assert only(client.get_next_trials(max_trials=1))[1] == optimizer.ask()


def test_beyond_the_budget_trials_go_on_and_it_is_said_once(caplog):
    client = client_of(generation_strategy("branin", budget=1))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            index, _ = only(client.get_next_trials(max_trials=1))
            client.complete_trial(index, {"y": 0.0})
    assert len([r for r in caplog.records if "budget of 1 trials is spent" in r.message]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "y, -z"}, r"metabo optimizes one metric"),
        ({"outcome_constraints": ["z <= 1"]}, r"does not support outcome constraints"),
        ({"parameters": [unit("x1")]}, r"artifact `branin`: parameter `x2` is missing"),
        (
            {"parameters": [unit("x1"), MIXED[0]]},
            r"artifact `branin`: parameter `x2` is missing",
        ),
    ],
)
def test_problems_that_do_not_fit_are_refused_in_one_sentence(arguments, message):
    client = client_of(generation_strategy("branin"), **arguments)
    with pytest.raises(OptionError, match=message):
        client.get_next_trials(max_trials=1)


def test_parameter_constraints_are_refused():
    client = Client()
    client.configure_experiment(
        parameters=[unit("x1"), unit("x2")], parameter_constraints=["x1 + x2 <= 1"]
    )
    client.configure_optimization(objective="y")
    client.set_generation_strategy(generation_strategy("branin"))
    with pytest.raises(OptionError, match=r"does not support parameter constraints"):
        client.get_next_trials(max_trials=1)


def test_a_budget_that_is_none_is_refused_at_once(unchecked):
    with pytest.raises(OptionError, match=r"`budget` must be a whole number in .*but got 'a'"):
        generation_strategy("branin", budget="a")
