"""Laws of spaces and runs, for random ones."""

import json
import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spaces import spaces, values_of

from metabo import Choice, Float, Int, MetaBOError, Optimizer
from metabo.domain import sobol
from metabo.journal import Journal
from metabo.space.schema import from_json, to_json

few = settings(
    derandomize=True,
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
finite = st.floats(-1e12, 1e12)
wrong_values = st.sampled_from([math.nan, math.inf, -math.inf, "1", None, True, [1.0], 2j])


def require_inside(params, space):
    assert list(params) == list(space.parameters)
    for name, parameter in space.parameters.items():
        value = params[name]
        if isinstance(parameter, Choice):
            assert any(
                value is v or (value == v and type(value) is type(v)) for v in parameter.values
            )
        else:
            assert type(value) is (int if isinstance(parameter, Int) else float)
            assert parameter.low <= value <= parameter.high


@few
@given(spaces, st.data())
def test_values_survive_the_unit_cube(record, data):
    space = from_json(record)
    values = space.clean(data.draw(values_of(record)))
    x = space.encode(values)
    assert ((x >= 0) & (x <= 1)).all()
    again = space.decode(x)
    require_inside(again, space)
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Float):
            size = (
                abs(values[name])
                if parameter.log
                else max(abs(parameter.low), abs(parameter.high))
            )
            assert again[name] == pytest.approx(values[name], rel=0, abs=1e-12 * size)
        else:
            assert again[name] == values[name]


@few
@given(spaces)
def test_points_of_the_cube_survive_their_values(record):
    space = from_json(record)
    x = space.project(sobol(8, space.dim))
    for point in x:
        again = space.project(space.encode(space.decode(point)))
        for parameter, mine, other in zip(
            space.parameters.values(), space.split(point), space.split(again), strict=True
        ):
            # A short interval far from 0 has few floats: what they cannot tell apart is lost.
            reach = 1e-12
            if isinstance(parameter, Float) and not parameter.log:
                largest = max(abs(parameter.low), abs(parameter.high))
                reach += 1e-15 * largest / (parameter.high - parameter.low)
            torch.testing.assert_close(mine, other, rtol=0, atol=reach)


@few
@given(spaces)
def test_spaces_survive_json(record):
    assert to_json(from_json(json.loads(json.dumps(record)))) == record


@few
@given(
    spaces, st.data(), st.sampled_from(["random", "ei"]), st.sampled_from(["minimize", "maximize"])
)
def test_proposals_lie_in_the_space_whatever_was_told(record, data, af, direction):
    space = from_json(record)
    optimizer = Optimizer(space, budget=9, af=af, direction=direction)
    for _ in range(data.draw(st.integers(0, 3))):
        told = data.draw(values_of(record))
        if data.draw(st.booleans()):
            optimizer.tell(told, data.draw(finite))
        else:
            optimizer.tell_failure(told)
    used = {tuple(map(repr, one.params.values())) for one in optimizer.history}
    if space.size == len(used):
        with pytest.raises(MetaBOError, match="points of the space are evaluated"):
            optimizer.ask()
        return
    params = optimizer.ask()
    require_inside(params, space)
    again = Optimizer(space, budget=9, af=af, direction=direction)
    again.take_up(optimizer.history)
    assert again.ask() == params
    optimizer.tell(params, 1.0)
    # What was asked for is known exactly: the state holds the proposed point.
    assert tuple(optimizer.state.history.x[0, -1].tolist()) == optimizer._proposer.exactly(params)


@few
@given(spaces, st.data())
def test_what_is_refused_is_one_sentence_and_changes_nothing(
    tmp_path_factory, unchecked, record, data
):
    space = from_json(record)
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    params = data.draw(values_of(record))
    name = data.draw(st.sampled_from(list(params)))
    bad = [
        (params, data.draw(wrong_values)),
        ({k: v for k, v in params.items() if k != name}, 1.0),
        (params | {"more": 1.0}, 1.0),
        (params | {name: [params[name]]}, 1.0),
        (params | {name: math.nan}, 1.0),
        (params | {name: 1e300}, 1.0),
        (list(params), 1.0),
    ]
    with Optimizer(space, budget=5, af="random", journal=path) as optimizer:
        optimizer.tell(params, 3.0)
        before = path.read_bytes()
        for wrong, value in bad:
            with pytest.raises(MetaBOError) as refused:
                optimizer.tell(wrong, value)
            message = str(refused.value)
            assert message.endswith((".", "?"))
            assert "\n" not in message
        assert path.read_bytes() == before
        assert optimizer.n_told == 1


@few
@given(spaces, st.data())
def test_a_journal_gives_back_the_history(tmp_path_factory, record, data):
    space = from_json(record)
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    with Optimizer(space, budget=50, af="random", journal=path) as optimizer:
        for _ in range(data.draw(st.integers(0, 4))):
            optimizer.tell(data.draw(values_of(record)), data.draw(finite))
        history = optimizer.history
    assert len(Journal(path).entries) == len(history)
    with Optimizer.open(path) as again:
        assert again.history == history
        assert again.space == space
