import shlex

import pytest

from metabo import Choice, Float, Int, Space
from metabo.cli.assignments import read_number, read_words, written
from metabo.errors import OptionError

NAMES = [
    "",
    " ",
    "a b",
    "a=b",
    "a=",
    "=",
    "value",
    "line\nend",
    "'",
    '"',
    "-x",
    "--failed",
    "$(x)",
]
WORDS = [
    "",
    " ",
    "1",
    1,
    1.5,
    True,
    "true",
    None,
    "null",
    "a=b",
    "\n",
    "a\0b",
    "'",
    '"',
    "é",
    "\\",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_goes_through_the_shell(name):
    space = Space({name: Float(0, 1), "p": Int(0, 3)})
    params = {name: 0.1 + 0.2, "p": 2}
    assert read_words(shlex.split(written(params, space)), space) == (params, None)


@pytest.mark.parametrize("value", WORDS)
def test_any_choice_goes_through_the_shell_on_one_line(value):
    space = Space({"kind": Choice(tuple(WORDS))})
    line = written({"kind": value}, space)
    params, _ = read_words(shlex.split(line), space)
    assert params["kind"] == value
    assert type(params["kind"]) is type(value)
    assert line.isprintable()


def test_names_that_begin_alike_are_told_apart():
    space = Space({"a": Float(0, 1), "a=b": Float(0, 1), "a=b=c": Float(0, 1)})
    params = {"a": 0.25, "a=b": 0.5, "a=b=c": 0.75}
    assert read_words(shlex.split(written(params, space)), space) == (params, None)


def test_a_word_of_a_megabyte_is_not_repeated():
    space = Space({"x": Float(0, 1)})
    with pytest.raises(OptionError, match=r"but got `w{100}\.\.\.w{100}`") as caught:
        read_words(["w" * 10**6], space)
    assert len(str(caught.value)) < 400
    with pytest.raises(OptionError, match="finite number, but got `9") as caught:
        read_number("9" * 10**6)
    assert len(str(caught.value)) < 400
