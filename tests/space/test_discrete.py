import pytest
import torch

from metabo import Choice, Float, Int, Space
from metabo.errors import OptionError
from metabo.space.discrete import first_points, is_continuous, neighbours

SPACE = Space({"n": Int(1, 3), "kind": Choice(("a", "b")), "m": Int(1, 100, log=True)})


def test_only_floats_are_continuous():
    space = Space({"x": Float(0.0, 1.0), **SPACE.parameters})
    assert is_continuous(space).tolist() == [True, False, False, False, False]


def test_all_points_are_listed_once_and_are_where_projection_puts_them():
    points = first_points(SPACE, 10**6)
    assert len(points) == SPACE.size == 600
    assert len({tuple(SPACE.decode(x).values()) for x in points}) == 600
    torch.testing.assert_close(SPACE.project(points), points, rtol=0, atol=1e-15)
    assert all(torch.equal(SPACE.encode(SPACE.decode(x)), x) for x in points[::7])


def test_the_first_points_of_a_huge_space_are_different():
    space = Space({"n": Int(0, 2**40), "kind": Choice(("a", "b"))})
    points = first_points(space, 7)
    assert len({tuple(space.decode(x).values()) for x in points}) == 7


def test_a_real_space_has_no_list():
    with pytest.raises(OptionError, match="a `Float` cannot be listed"):
        first_points(Space.cube(2), 3)


def test_neighbours_differ_in_one_discrete_parameter():
    space = Space({"x": Float(0.0, 1.0), **SPACE.parameters})
    here = {"x": 0.25, "n": 2, "kind": "a", "m": 50}
    around = neighbours(space, space.project(space.encode(here))[None, None])
    found = [space.decode(x) for x in around[0]]
    for values in found:
        assert values["x"] == 0.25
        assert sum(values[name] != here[name] for name in here) <= 1
    assert {values["n"] for values in found} == {1, 2, 3}
    assert {values["kind"] for values in found} == {"a", "b"}
    assert {values["m"] for values in found} == {40, 49, 50, 51, 60}
    assert neighbours(Space.cube(1), around[..., :1]).shape == (1, 0, 1)
