from fractions import Fraction

import numpy as np
import pytest

from metabo.errors import brief, listed, shown, unknown


class Broken:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        ("a", "'a'"),
        (10**5000, "a whole number of about 5000 digits"),
        ([10**5000], "[a whole number of about 5000 digits]"),
        (Fraction(1, 3), "Fraction(1, 3)"),
        (np.float64(2.5), "np.float64(2.5)"),
        ("a\nb\0\ud800", r"'a\nb\x00\ud800'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_repeated_as_it_was_written(value, text):
    assert brief(value) == text


@pytest.mark.parametrize(
    "value",
    [
        *("x" * 10**7, list(range(10**6)), {"k" * 10**6: "v" * 10**6}, np.zeros((300, 300))),
        *(Broken(), [[[[[[[[1]]]]]]]], tuple("ab" * 10**6), 10**100_000, b"x" * 10**6),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_message_repeats_a_megabyte_or_takes_a_second(value):
    assert len(brief(value)) <= 250
    assert brief(value).isprintable()


def test_text_keeps_its_ends_on_one_line():
    assert shown("short name") == "short name"
    assert shown("a\tb\ud800") == r"a\tb\ud800"
    assert shown("a" + "x" * 10**7 + "z") == "a" + "x" * 99 + "..." + "x" * 99 + "z"


def test_an_unknown_name_is_compared_with_short_ones_only():
    long = "n" * 10**6
    error = unknown(
        "thing", long, [long + "m", "short", *(f"{long[:90]}{i}" for i in range(3000))]
    )
    assert len(str(error)) < 1000
    assert "Unknown thing `3`. Choose from: `a`." in str(unknown("thing", 3, ["a"]))
    assert "Did you mean `rate`?" in str(unknown("thing", "rat", ["rate", "kind"]))


def test_of_many_names_the_first_are_listed():
    assert listed([]) == "none"
    assert listed(["a", "b"]) == "`a`, `b`"
    assert listed(f"name-{i:04}" for i in range(5000)).endswith(" more")
    assert len(listed("n" * 10**5 for _ in range(100))) < 900
