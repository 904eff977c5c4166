"""Rules for values from outside: what a value must be, in words and as a test.

Settings, options, tables, cards, journals and checkpoints are all checked by these rules. Each
states in one place what is accepted and how a message describes it.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TypeGuard

from metabo.errors import (
    DataError,
    MetaBOError,
    OptionError,
    brief,
    listed,
    nearest,
    shown,
    unknown,
)

MAX_BUDGET = 10_000
"""Largest number of evaluations in one run: with more, the exact GP is too slow to be useful."""
MAX_COUNT = 1_000_000
"""Largest number of tasks, episodes and the like: more is a slip, and would exhaust memory."""


@dataclass(frozen=True)
class Rule:
    """A condition that a value must satisfy."""

    form: str
    """Description that follows "must be" in messages, such as "a whole number in 1..10"."""
    accepts: Callable[[object], bool]
    """Function that tells whether a value satisfies the rule; it never raises."""
    choices: tuple[str, ...] = ()
    """Accepted words, if the value is a word: the message suggests the nearest one."""

    def require_in(
        self,
        where: str,
        value: object,
        *,
        remedy: str = "",
        error: type[MetaBOError] = DataError,
    ) -> None:
        """Raise unless a value from a file or another program is accepted.

        Args:
            where: Subject of the message, such as "`log` of parameter `x`".
            value: Value that was found.
            remedy: Sentence that tells the user what to do.
            error: Type of the error to raise.

        Raises:
            MetaBOError: An error of the given type, if the value is not accepted.
        """
        if not self.accepts(value):
            raise error(f"{where} must be {self.form}, but is {brief(value)}. {remedy}".rstrip())

    def require(self, name: str, value: object, *, in_shell: str | None = None) -> None:
        """Raise unless an argument of a function is accepted.

        Args:
            name: Name of the argument in Python.
            value: Value that was given.
            in_shell: Name of the argument in the shell, if it is not the option of this name.

        Raises:
            OptionError: If the value is not accepted.
        """
        if not self.accepts(value):
            if self.choices and isinstance(value, str):
                raise unknown(name, value, self.choices)
            rest = f"must be {self.form}, but got {brief(value)}."
            shell = None if in_shell is None else f"`{in_shell}` {rest}"
            raise OptionError(f"`{name}` {rest}", shell=shell)


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a finite number that fits a float; `True` and `False` are not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number may be too large for a float
        return False


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is an int; `True` and `False` are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def to_number(value: object) -> float:
    """Return a number, or the number that a text spells, as a float.

    Raises:
        ValueError: If it is not a finite number.
    """
    number = float(value) if isinstance(value, str) else value
    if not is_number(number):
        raise ValueError(f"{brief(value)} is not a finite number")
    return float(number)


def whole(low: int, high: int) -> Rule:
    """Return the rule for a whole number in [low, high]."""
    return Rule(f"a whole number in {low}..{high}", lambda v: is_whole(v) and low <= v <= high)


def number(low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf) -> Rule:
    """Return the rule for a finite number in [low, high] that is larger than `above`."""
    form = "a finite number"
    if above > -math.inf:
        form = "a positive number" if above == 0 else f"a finite number above {above:g}"
    elif low > -math.inf:
        form = f"a finite number of at least {low:g}"
    if high < math.inf:
        form = f"a number in {low:g}..{high:g}" if low > -math.inf else f"{form} up to {high:g}"
    # `is_number` comes first: comparisons with other values could raise.
    return Rule(form, lambda v: is_number(v) and low <= v <= high and v > above)


def one_of(*values: str) -> Rule:
    """Return the rule for one of a few words."""
    words = [f"`{value}`" for value in values]
    form = " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    return Rule(form, lambda v: isinstance(v, str) and v in values, values)


def list_of(each: Rule, what: str, *, least: int = 0, most: int | None = None) -> Rule:
    """Return the rule for a list whose items are all accepted, as in `list_of(NAME, "names")`."""
    return Rule(
        f"a list of {what}",
        lambda v: (
            isinstance(v, list)
            and least <= len(v) <= (len(v) if most is None else most)
            and all(map(each.accepts, v))
        ),
    )


def optional(rule: Rule) -> Rule:
    """Return a rule that also accepts null."""
    return Rule(f"{rule.form}, or null", lambda v: v is None or rule.accepts(v))


NAME = Rule("a name", lambda v: isinstance(v, str))
ANYTHING = Rule("anything", lambda _: True)
FLAG = Rule("true or false", lambda v: isinstance(v, bool))
OBJECT = Rule("an object", lambda v: isinstance(v, Mapping))
BUDGET = whole(1, MAX_BUDGET)
SEED = whole(-(2**63), 2**63)


def require_fields(
    record: object,
    rules: Mapping[str, Rule],
    where: str,
    *,
    required: Collection[str] = (),
    remedy: str,
    error: type[MetaBOError] = DataError,
) -> dict[str, object]:
    """Return the fields of an object from outside after checking each by its rule.

    Args:
        record: Object that was read.
        rules: Rules for the fields that the object may have, by name.
        where: Name of the object in messages, such as "`table.json`".
        required: Names of the fields that the object must have.
        remedy: Sentence that tells the user what to do.
        error: Type of the error to raise.

    Returns:
        The fields, in a new dictionary.

    Raises:
        MetaBOError: An error of the given type, if a field is unknown, missing or not accepted.
    """
    OBJECT.require_in(where, record, remedy=remedy, error=error)
    assert isinstance(record, Mapping)
    for name, value in record.items():
        if name not in rules:
            near = nearest(str(name), list(rules))
            hint = "" if near is None else f"Did you mean `{near}`? "
            raise error(
                f"{where} must have no other fields than {listed(rules)}, but has "
                f"`{shown(name)}`. {hint}{remedy}".rstrip()
            )
        rules[name].require_in(f"`{shown(name)}` in {where}", value, remedy=remedy, error=error)
    for name in required:
        if name not in record:
            raise error(f"`{name}` is missing in {where}. {remedy}".rstrip())
    return dict(record)
