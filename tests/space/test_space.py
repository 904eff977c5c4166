import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from metabo import Choice, Float, Int, Space
from metabo.domain import sobol
from metabo.errors import DataError, DomainError, OptionError, ShapeError, brief

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


@pytest.mark.slow
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
        (
            {"layers": 2.5},
            "Parameter `layers`: A value of an `Int` must be a whole number, but got 2.5",
        ),
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
        (lambda: Float(0.0, float("inf")), "both must be finite"),
        (
            lambda: Float(0.0, 1.0, log=True),
            "`low` must be positive on a log scale, but got low=0.0",
        ),
        (lambda: Float(-1e308, 1e308), "`high - low` must be a finite number"),
        (lambda: Int(0, 10**400), "both must be finite"),
        (lambda: Int(1.5, 3), "must be whole"),
        (lambda: Int(float("nan"), 3), "`low < high` must hold"),
        (lambda: Int(0, 10**18), r"within 2\*\*50 of 0 .* Use a `Float` or different units"),
        (lambda: Float("a", "b"), "finite numbers"),
        (lambda: Choice(5), "needs a list of values"),
        (
            lambda: Choice(([1], [2])),
            "values must be finite numbers, Unicode text, booleans or None",
        ),
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


@pytest.mark.parametrize(
    "parameter",
    [
        Float(5e-324, 1.0, log=True),
        Float(5e-324, sys.float_info.max, log=True),
        Float(0.0, 5e-324),
        Float(-sys.float_info.max / 2, sys.float_info.max / 2),
        Float(1e16, 1e16 + 2),
        Float(1.0, 1.0 + 2**-52, log=True),
        Int(-(2**49), 2**49),
        Int(0, 2**50),
        Int(2**50 - 1, 2**50),
        Int(1, 2**40, log=True),
        Int(2**40 - 3, 2**40, log=True),
    ],
)
def test_the_largest_and_the_smallest_ranges_round_trip(parameter, rng):
    ends = [parameter.low, parameter.high]
    corners = torch.tensor([[0.0], [1.0], [0.5]], dtype=torch.float64)
    points = torch.cat([corners, torch.rand(200, 1, generator=rng, dtype=torch.float64)])
    for value in (*ends, *(parameter.decode(point) for point in points)):
        (at,) = parameter.encode(value)
        again = parameter.decode(torch.tensor([at], dtype=torch.float64))
        assert 0 <= at <= 1
        assert parameter.low <= again <= parameter.high
        assert parameter.clean(again) == again
        if isinstance(parameter, Int):
            assert again == value
        elif parameter.log:
            assert math.log(again) == pytest.approx(math.log(value), abs=1e-12, rel=1e-12)
        else:
            assert again == pytest.approx(value, abs=1e-15 * max(map(abs, ends)), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Int(0, 2**50 + 1),
            r"`Int` must lie within 2\*\*50 of 0 .* Use a `Float` or different",
        ),
        (lambda: Int(2**50, 2**50 + 1), r"`Int` must lie within 2\*\*50 of 0"),
        (lambda: Int(-(2**50), 1), r"`Int` must lie within 2\*\*50 of 0 and span no more"),
        (lambda: Int(1, 2**41, log=True), r"`Int` must lie within 2\*\*40 on a log scale"),
        (lambda: Int(0, 10**5000), "but got low=0, high=a whole number of about 5000 digits"),
        (lambda: Int(False, True), "both must be finite numbers, but got low=False, high=True"),
        (lambda: Int("1", "3"), "both must be finite numbers, but got low='1', high='3'"),
        (lambda: Int(Fraction(1, 2), 3), r"must be whole numbers, but got low=Fraction\(1, 2\)"),
        (lambda: Int(Decimal(1), 3), "both must be finite numbers"),
        (lambda: Float(0, 10**400), "high=a whole number of about 400 digits"),
        (lambda: Float(0, np.float64("inf")), "both must be finite numbers"),
        (lambda: Float(np.float16(1), 0.5), "`low < high` must hold"),
        (lambda: Float(1e10, math.nextafter(1e10, 2e10), log=True), "must differ on the param"),
        (lambda: Float(0, 1, log="no"), "`log` must be True or False, but got 'no'"),
        (lambda: Choice((1, math.nan)), "finite numbers, Unicode text.* but got nan. Write it as"),
        (lambda: Choice((1, math.inf)), "but got inf. Write it as text"),
        (lambda: Choice((1, 10**400)), "but got a whole number of about 400 digits"),
        (lambda: Choice(("a", "\ud800")), "Unicode text"),
        (lambda: Choice((Fraction(1, 3), 2)), "Fraction"),
        (lambda: Choice((1, 1.0)), "at least two different values"),
        (lambda: Choice((1, np.int64(1))), "at least two different values"),
        (lambda: Choice(("a", ["b"])), r"but got \['b'\]"),
        (lambda: Choice((1, np.datetime64("2020-01-01"))), "but got datetime"),
        (lambda: Space({"a\0b": Float(0, 1)}), r"without NUL, but got `a\\x00b`. Rename it"),
        (lambda: Space({"\ud800": Float(0, 1)}), r"Unicode text .* but got `\\ud800`"),
        (
            lambda: Space({"n" * 1001: Float(0, 1)}),
            r"1000 characters at most.*`n{100}\.\.\.n{100}`",
        ),
        (lambda: Space({3: Float(0, 1)}), "maps names to .* but got 3: Float"),
        (lambda: Space([("x", Float(0, 1))]), "needs a mapping from names"),
        (
            lambda: Space({"c": Choice(tuple(range(6000)))}),
            "5000 coordinates at most, but got 6000",
        ),
    ],
)
def test_what_could_not_work_is_refused_when_it_is_declared(make, message, unchecked):
    with pytest.raises(OptionError, match=message) as caught:
        make()
    assert len(str(caught.value)) < 600


def test_bounds_become_plain_numbers(unchecked):
    whole, real = (
        Int(np.int64(1), Fraction(8, 1), np.bool_(True)),
        Float(Fraction(1, 4), np.int8(2)),
    )
    assert whole == Int(1, 8, log=True)
    assert [type(v) for v in (whole.low, whole.high, whole.log)] == [int, int, bool]
    assert real == Float(0.25, 2.0)
    assert [type(v) for v in (real.low, real.high)] == [float, float]


def test_choices_of_numpy_become_plain_and_are_known_again(unchecked):
    choice = Choice((np.int64(1), np.float32(0.5), np.bool_(True), np.str_("a"), None, ""))
    assert choice.values == (1, 0.5, True, "a", None, "")
    kinds = [type(value) for value in choice.values]
    assert kinds == [int, float, bool, str, type(None), str]
    assert choice.clean(np.bool_(True)) is True
    assert choice.clean(np.float64(1)) == 1
    assert choice.clean(1) is not True
    with pytest.raises(OptionError, match=r"Unknown choice `False`"):
        choice.clean(False)
    with pytest.raises(OptionError, match=r"Unknown choice `\[1\]`"):
        choice.clean([1])


def test_thousands_of_choices_are_declared_and_found_at_once():
    choice = Choice(tuple(f"value {i}" for i in range(5000)))
    assert choice.clean("value 4999") == "value 4999"
    with pytest.raises(OptionError, match=r"and [0-9]+ more") as caught:
        choice.clean("x" * 10**6)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "value", [10**400, -(10**5000), "1", Decimal(1), 1j, [1], np.zeros(2)], ids=brief
)
def test_told_values_that_are_no_number_are_refused_by_name(value, unchecked):
    for parameter in (Float(0, 2), Int(0, 2)):
        with pytest.raises(DataError, match=r"Parameter `x`: A value must be a number in \[0"):
            Space({"x": parameter}).clean({"x": value})


def test_a_space_keeps_the_parameters_that_it_was_given():
    parameters = {"x": Float(0, 1)}
    space = Space(parameters)
    parameters["y"] = Float(0, 1)
    assert list(space.parameters) == ["x"]
