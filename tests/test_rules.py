"""What a rule accepts, and what is said of what it does not."""

import math

import pytest

from metabo.errors import DataError, OptionError
from metabo.rules import (
    FLAG,
    NAME,
    is_number,
    is_whole,
    list_of,
    number,
    one_of,
    optional,
    to_number,
    whole,
)
from metabo.rules import require_fields as fields

HUGE = 10**400
STRANGE = [None, True, "3", [3], {}, math.nan, math.inf, HUGE, b"3", object()]


@pytest.mark.parametrize("value", STRANGE, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("rule", [whole(1, 5), number(), number(0, 1), number(above=0)])
def test_a_rule_for_numbers_refuses_what_is_none_and_never_raises(rule, value):
    assert not rule.accepts(value)


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        (whole(1, 5), [1, 5], [0, 6, 1.0]),
        (number(0, 1), [0, 0.5, 1], [-0.1, 1.1]),
        (number(low=0), [0, 3], [-1e-300]),
        (number(above=0), [1e-300], [0, -1]),
        (one_of("a", "b"), ["a", "b"], ["c", 1, None]),
        (list_of(NAME, "names", least=1, most=2), [["x"], ["x", "y"]], [[], [1], ["x"] * 3, "x"]),
        (optional(FLAG), [None, True, False], [0, "true"]),
    ],
)
def test_a_rule_accepts_what_it_says(rule, yes, no):
    assert all(map(rule.accepts, yes))
    assert not any(map(rule.accepts, no))


@pytest.mark.parametrize(
    ("rule", "form"),
    [
        (whole(1, 5), "a whole number in 1..5"),
        (number(), "a finite number"),
        (number(0, 1), "a number in 0..1"),
        (number(above=0), "a positive number"),
        (number(low=2), "a finite number of at least 2"),
        (one_of("a"), "`a`"),
        (one_of("a", "b", "c"), "`a`, `b` or `c`"),
        (optional(NAME), "a name, or null"),
    ],
)
def test_a_rule_says_in_words_what_it_accepts(rule, form):
    assert rule.form == form


def test_numbers_are_those_that_a_float_can_hold():
    assert is_number(3)
    assert is_number(-0.5)
    assert not is_number(HUGE)


def test_whole_numbers_are_ints_of_any_size():
    assert is_whole(HUGE)
    assert not any(map(is_whole, (True, 3.0, "3", None)))


def test_numbers_are_read_from_text():
    assert to_number("1e-2") == to_number(0.01) == 0.01


@pytest.mark.parametrize(
    "value", ["x", "nan", "1e999", "", *STRANGE[:2], *STRANGE[3:]], ids=lambda v: type(v).__name__
)
def test_only_finite_numbers_are_read(value):
    with pytest.raises(ValueError, match=r"finite number|could not convert"):
        to_number(value)


def test_an_argument_is_named_as_it_was_typed():
    with pytest.raises(OptionError, match=r"`n` must be a whole number in 1\.\.3, but got 9") as e:
        whole(1, 3).require("n", 9, in_shell="-n")
    assert e.value.in_shell.startswith("`-n` must be")


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ([1], "`f.json` must be an object, but is \\[1\\]"),
        ({"b": 1}, "no other fields than `a`, but has `b`"),
        ({"aa": 1}, r"but has `aa`. Did you mean `a`\?"),
        ({"a": "x"}, r"`a` in `f.json` must be a whole number in 1\.\.3, but is 'x'"),
        ({}, "`a` is missing in `f.json`"),
    ],
)
def test_an_object_is_refused_by_its_first_wrong_field(record, problem):
    with pytest.raises(DataError, match=problem + r".*Change it\."):
        fields(record, {"a": whole(1, 3)}, "`f.json`", required=("a",), remedy="Change it.")


def test_the_fields_of_an_object_are_copied():
    record = {"a": 1}
    read = fields(record, {"a": whole(1, 3)}, "`f.json`", remedy="Change it.")
    assert read == record
    assert read is not record
