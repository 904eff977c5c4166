"""Optuna's distributions and ours: every value finds its way there and back."""

import math

import pytest
import torch

from metabo.space import Choice, Float, Int, Space

pytest.importorskip("optuna", reason="needs the extra `optuna`")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from metabo.integrations.optuna.distributions import Codec, SearchSpace, distributions_of, is_known

DISTRIBUTIONS = [
    FloatDistribution(-1.5, 2.0),
    FloatDistribution(1e-7, 1.0, log=True),
    FloatDistribution(-10.2, 10.2, step=0.1),
    IntDistribution(-3, 12),
    IntDistribution(1, 100, log=True),
    IntDistribution(3, 9, step=2),
    CategoricalDistribution(["a", None, True, 1.5]),
    CategoricalDistribution([1, True]),
    CategoricalDistribution([math.nan, 1.0]),
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=str)
def test_every_point_of_the_cube_decodes_to_a_value_and_back(distribution, rng):
    space = SearchSpace.of({"p": distribution})
    points = torch.rand(50, space.space.dim, generator=rng, dtype=torch.float64)
    corners = torch.stack([torch.zeros_like(points[0]), torch.ones_like(points[0])])
    for x in torch.cat([points, corners]):
        projected = space.space.project(x)
        params = space.decode(space.space.decode(projected))
        assert distribution._contains(distribution.to_internal_repr(params["p"]))
        assert space.contains(params)
        again = space.space.project(space.space.encode(space.encode(params)))
        torch.testing.assert_close(again, projected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("distribution", "low", "high"),
    [
        (FloatDistribution(-10.2, 10.2, step=0.1), -10.2, 10.2),
        (IntDistribution(3, 9, step=2), 3, 9),
        (IntDistribution(1, 100, log=True), 1, 100),
    ],
    ids=str,
)
def test_both_ends_can_be_reached(distribution, low, high):
    space = SearchSpace.of({"p": distribution})
    ends = [space.decode(space.space.decode(torch.full((1,), at).double())) for at in (0, 1)]
    assert [end["p"] for end in ends] == pytest.approx([low, high])
    assert all(type(end["p"]) is type(low) for end in ends)


def test_a_space_of_ours_is_the_same_there_and_back():
    space = Space(
        {
            "a": Float(-1.0, 2.0),
            "b": Float(1e-3, 1.0, log=True),
            "c": Int(1, 9),
            "d": Int(1, 9, log=True),
            "e": Choice(("x", None, 3)),
        }
    )
    assert SearchSpace.of(distributions_of(space)).space == space


def test_what_lies_outside_or_is_missing_is_not_contained():
    space = SearchSpace.of({"p": FloatDistribution(0.0, 1.0), "q": IntDistribution(1, 9)})
    assert space.contains({"p": 0.5, "q": 3, "other": "x"})
    assert not space.contains({"p": 0.5})
    assert not space.contains({"p": 1.5, "q": 3})
    assert not space.contains({"p": 0.5, "q": 0})


def test_single_values_and_huge_integers_are_left_to_optuna():
    assert not is_known(FloatDistribution(1.0, 1.0))
    assert not is_known(CategoricalDistribution(["only"]))
    assert not is_known(IntDistribution(0, 2**60))
    assert is_known(IntDistribution(0, 2**40))


def test_choices_that_cannot_be_told_apart_are_known_by_number():
    for choices in ([1, 1.0, "x"], [math.nan, 1.0, "x"]):
        codec = Codec.of(CategoricalDistribution(choices))
        assert codec.is_counted
        assert codec.decode(2) == "x"
        assert codec.encode("x") == 2
