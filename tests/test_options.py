from typing import Literal

import numpy as np
import pytest

from metabo.errors import OptionError, brief
from metabo.options import Range, build, parse


def builder(
    *,
    count: int = 1,
    weight: float = 0.5,
    kind: Literal["a", "b"] = "a",
    span: Range = (0.0, 1.0),
    limit: int | None = None,
):
    return count, weight, kind, span, limit


def test_text_is_split_into_name_and_options():
    assert parse("ucb:beta=4:schedule=gp-ucb") == ("ucb", {"beta": "4", "schedule": "gp-ucb"})
    assert parse("ei") == ("ei", {})


def test_values_are_converted_by_the_declared_types():
    options = {"count": "3", "weight": "1e-2", "kind": "b", "span": "0.2..0.3", "limit": "7"}
    assert build("thing", builder, options) == (3, 0.01, "b", (0.2, 0.3), 7)


def test_values_that_are_not_text_pass_through():
    assert build("thing", builder, {"span": (1.0, 2.0)})[3] == (1.0, 2.0)


@pytest.mark.parametrize(
    "options",
    [
        {"count": 2.5},
        {"count": True},
        {"weight": "x"},
        {"weight": None},
        {"span": 0.1},
        {"kind": 3},
    ],
)
def test_values_of_another_type_are_refused(options):
    with pytest.raises(OptionError, match="must be"):
        build("thing", builder, options)


@pytest.mark.parametrize("text", ["ei:beta", "ei:=3", "ei:beta=", "ei:"])
def test_malformed_options_say_how_they_are_written(text):
    with pytest.raises(OptionError, match="written `name:option=value`"):
        parse(text)


def test_an_option_given_twice_is_refused():
    with pytest.raises(OptionError, match="given twice"):
        parse("ucb:beta=1:beta=2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cuont": "3"}, r"Unknown option of thing `cuont`. Did you mean `count`\?"),
        ({"count": "three"}, "must be a whole number of at most 18 digits, but got `three`"),
        ({"limit": "x"}, "must be a whole number of at most 18 digits, but got `x`"),
        ({"weight": "much"}, "must be a finite number, but got `much`"),
        ({"span": "1-2"}, r"must be a range `low..high` of finite numbers, but got `1-2`"),
        ({"kind": "c"}, "must be one of `a`, `b`, but got `c`"),
    ],
)
def test_options_that_do_not_fit_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        build("thing", builder, options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"count": "9" * 400},
            r"must be a whole number of at most 18 digits, but got `9{100}\.\.\.",
        ),
        ({"count": "9" * 5000}, "must be a whole number of at most 18 digits, but got `9"),
        (
            {"count": 10**5000},
            "of at most 18 digits, but got `a whole number of about 5000 digits`",
        ),
        ({"weight": "1e999"}, "must be a finite number, but got `1e999`"),
        ({"weight": "nan"}, "must be a finite number, but got `nan`"),
        ({"weight": 10**400}, "must be a finite number"),
        ({"span": "nan..1"}, r"must be a range `low..high` of finite numbers, but got `nan..1`"),
        ({"span": "x" * 10**6}, r"but got `x{100}\.\.\.x{100}`"),
        ({"kind": np.zeros(2)}, r"must be one of `a`, `b`, but got `array\(\[0., 0.\]\)`"),
        ({"limit": np.zeros(2)}, "must be a whole number of at most 18 digits, but got `array"),
        ({"kind": "k" * 10**6}, r"must be one of `a`, `b`, but got `k{100}\.\.\.k{100}`"),
        ({"n" * 10**6: "1"}, "Unknown option of thing `n"),
    ],
    ids=brief,
)
def test_absurd_numbers_and_names_are_refused_by_a_short_name(options, message):
    with pytest.raises(OptionError, match=message) as caught:
        build("thing", builder, options)
    assert len(str(caught.value)) < 600


def test_text_of_a_megabyte_is_not_repeated(unchecked):
    for text in ("ei:" + "x" * 10**6, ":".join(["a", *["b=1"] * 10**5]), "ei:" + ":" * 10**6):
        with pytest.raises(OptionError, match=r"\.\.\.") as caught:
            parse(text)
        assert len(str(caught.value)) < 600
    with pytest.raises(OptionError, match="A name must be text, such as `branin`, but got 3"):
        parse(3)
