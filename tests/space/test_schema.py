import json

import pytest

from metabo import Choice, Float, Int, Space
from metabo.errors import DataError
from metabo.space.schema import first_difference, from_json, to_json

SPACE = Space(
    {
        "rate": Float(1e-5, 0.1, log=True),
        "layers": Int(1, 4),
        "kind": Choice(("a", 2, None, True, 0.5)),
    }
)


def test_a_space_survives_json():
    again = from_json(json.loads(json.dumps(to_json(SPACE))))
    assert again == SPACE
    assert list(again.parameters) == list(SPACE.parameters)
    assert isinstance(again.parameters["layers"].low, int)


def test_the_schema_is_stable():
    assert to_json(SPACE) == {
        "rate": {"type": "float", "low": 1e-5, "high": 0.1, "log": True},
        "layers": {"type": "int", "low": 1, "high": 4, "log": False},
        "kind": {"type": "choice", "values": ["a", 2, None, True, 0.5]},
    }
    assert from_json({"x1": {"type": "float", "low": 0, "high": 1}}) == Space.cube(1)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([1], "A space must be an object that maps names"),
        ({"x": {"type": "real", "low": 0, "high": 1}}, "Parameter `x` must be like"),
        ({"x": {"type": "float", "low": 0}}, "Parameter `x` must be like"),
        ({"x": {"type": "float", "low": 0, "high": 1, "step": 1}}, "Parameter `x` must be like"),
        ({"x": {"type": "int", "low": 2, "high": 1}}, "Parameter `x`: `low < high` must hold"),
        ({"x": {"type": "int", "low": 1, "high": 2, "log": 1}}, "`log` must be true or false"),
        ({"x": {"type": "choice", "values": 3}}, "Parameter `x`: `Choice` needs a list"),
        ({"x": {"type": ["float"], "low": 0, "high": 1}}, "Parameter `x` must be like"),
        ({"x": 3}, "Parameter `x` must be like"),
    ],
)
def test_what_is_no_space_is_refused(record, message, unchecked):
    with pytest.raises(DataError, match=message):
        from_json(record)


def test_the_first_difference_is_named_and_order_is_none():
    parameters = SPACE.parameters
    assert first_difference(SPACE, Space(dict(reversed(parameters.items())))) is None
    fewer = Space({"rate": parameters["rate"]})
    assert first_difference(fewer, SPACE) == "parameter `layers` is missing"
    assert first_difference(SPACE, fewer) == "there is no parameter `layers` in it"
    other = Space({**parameters, "layers": Int(1, 5)})
    assert first_difference(other, SPACE) == (
        "parameter `layers` is Int(low=1, high=5, log=False), not Int(low=1, high=4, log=False)"
    )
