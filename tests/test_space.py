import math

import numpy as np
import pytest
import torch

from metabo import Choice, Float, Int, Space
from metabo.domain import sobol
from metabo.errors import DataError, DomainError, OptionError, ShapeError

SPACE = Space(
    {
        "rate": Float(1e-5, 1e-1, log=True),
        "momentum": Float(0.0, 0.9),
        "layers": Int(1, 4),
        "width": Int(8, 1024, log=True),
        "activation": Choice(("relu", "tanh", "gelu")),
    }
)


def test_a_choice_takes_one_coordinate_per_value():
    assert SPACE.dim == 4 + 3


def test_decoding_an_encoding_gives_the_values_back():
    for point in sobol(200, SPACE.dim):
        values = SPACE.decode(point)
        again = SPACE.decode(SPACE.encode(values))
        assert again["rate"] == pytest.approx(values["rate"], rel=1e-12)
        assert again["momentum"] == pytest.approx(values["momentum"], abs=1e-15)
        assert all(again[k] == values[k] for k in ("layers", "width", "activation"))


def test_projection_is_encoding_what_was_decoded():
    points = sobol(300, SPACE.dim)
    projected = SPACE.project(points)
    for point, onto in zip(points, projected, strict=True):
        torch.testing.assert_close(onto, SPACE.encode(SPACE.decode(point)), rtol=0, atol=1e-12)
    torch.testing.assert_close(SPACE.project(projected), projected, rtol=0, atol=1e-12)


def test_ends_and_middles():
    assert SPACE.encode(
        {"rate": 1e-3, "momentum": 0.9, "layers": 1, "width": 8, "activation": "tanh"}
    ).tolist() == pytest.approx(
        [0.5, 1.0, 0.125, math.log(8 / 7.5) / math.log(1024.5 / 7.5), 0.0, 1.0, 0.0]
    )


def test_uniform_points_decode_to_uniform_integers_and_choices():
    decoded = [SPACE.decode(p) for p in sobol(4095, SPACE.dim)]
    for layers in (1, 2, 3, 4):
        assert sum(d["layers"] == layers for d in decoded) / 4095 == pytest.approx(0.25, abs=0.01)
    for name in ("relu", "tanh", "gelu"):
        assert sum(d["activation"] == name for d in decoded) / 4095 == pytest.approx(
            1 / 3, abs=0.02
        )


def test_decoded_values_never_leave_their_bounds():
    for corner in (0.0, 1.0):
        values = SPACE.decode(torch.full((SPACE.dim,), corner, dtype=torch.float64))
        assert 1e-5 <= values["rate"] <= 1e-1
        assert 8 <= values["width"] <= 1024
        assert 1 <= values["layers"] <= 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"rate": 1.0},
            r"Parameter `rate`: A value must be a number in \[1e-05, 0.1\], but got 1.0",
        ),
        ({"rate": float("nan")}, "Parameter `rate`: A value must be a number"),
        ({"layers": 2.5}, "Parameter `layers`: A value of an `Int` must be whole, but got 2.5"),
        ({"layers": True}, "Parameter `layers`: A value must be a number"),
        ({"activation": "gelo"}, "Parameter `activation`: Unknown choice `'gelo'`. Did you mean"),
    ],
)
def test_values_that_do_not_fit_are_named(change, message):
    good = {"rate": 1e-3, "momentum": 0.9, "layers": 1, "width": 8, "activation": "tanh"}
    with pytest.raises(DataError, match=message):
        SPACE.encode(good | change)


def test_missing_and_misspelled_parameters_are_named():
    with pytest.raises(OptionError, match=r"Unknown parameter `rat`. Did you mean `rate`"):
        SPACE.encode({"rat": 1e-3})
    with pytest.raises(DataError, match="Parameter `momentum` is missing"):
        SPACE.encode({"rate": 1e-3})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Float(1.0, 1.0), "`low < high` must hold"),
        (lambda: Float(0.0, float("inf")), "both be finite"),
        (
            lambda: Float(0.0, 1.0, log=True),
            "`low` must be positive on a log scale, but got low=0.0",
        ),
        (lambda: Float(-1e308, 1e308), "`high - low` must be a finite number"),
        (lambda: Int(0, 10**400), "both be finite"),
        (lambda: Int(1.5, 3), "must be whole"),
        (lambda: Int(float("nan"), 3), "`low < high` must hold"),
        (lambda: Int(0, 10**18), r"within 2\*\*50 of 0 .* Use a `Float`, or other units"),
        (lambda: Float("a", "b"), "finite numbers"),
        (lambda: Choice(5), "needs a list of values"),
        (lambda: Choice(([1], [2])), "values are finite numbers, Unicode text, booleans or None"),
        (lambda: Space({"a": 3}), "maps names to `Float`, `Int` or `Choice`"),
        (lambda: Choice(("a",)), "at least two different values"),
        (lambda: Choice(("a", "a")), "at least two different values"),
        (lambda: Space({}), "at least one parameter"),
    ],
)
def test_impossible_spaces_are_refused(make, message, unchecked):
    with pytest.raises(OptionError, match=message):
        make()


def test_numpy_numbers_are_numbers_and_equal_choices_match(unchecked):
    space = Space({"f": Float(0.0, 1.0), "i": Int(1, 4), "c": Choice((1, 2, True))})
    values = {"f": np.float32(0.5), "i": np.int64(2), "c": 1.0}
    assert space.decode(space.encode(values)) == {"f": 0.5, "i": 2, "c": 1}
    assert space.decode(space.encode(values | {"c": True}))["c"] is True


def test_points_outside_the_cube_are_not_decoded():
    with pytest.raises(DomainError, match="unit cube"):
        SPACE.decode(torch.full((SPACE.dim,), torch.nan, dtype=torch.float64))


def test_a_point_of_the_wrong_length_is_refused():
    with pytest.raises(ShapeError, match=r"axis of size 7 .* shape \(3,\)"):
        SPACE.decode(torch.zeros(3, dtype=torch.float64))
