"""Rules for values from outside: what a value must be, in words and as a test.

Settings, tables, cards, journals and checkpoints are all checked by these: a rule says in one
place what is accepted and how a message names it.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from numbers import Real

from metabo.errors import DataError, MetaBOError, OptionError, brief, listed, shown, unknown

MAX_BUDGET = 10_000
"""Most evaluations of one run: beyond it the exact GP is no longer of use."""


@dataclass(frozen=True)
class Rule:
    """What a value must be."""

    form: str
    """In words that follow "must be", such as "a whole number in 1..10"."""
    accepts: Callable[[object], bool]
    """Whether a value is one; it never raises."""
    choices: tuple[str, ...] = ()
    """The words to choose from, where the value is a word: a message names the nearest."""

    def require_in(
        self,
        where: str,
        value: object,
        *,
        remedy: str = "",
        error: type[MetaBOError] = DataError,
    ) -> None:
        """Raise unless a value from outside is such a value.

        Args:
            where: What the value is, such as "`log` of parameter `x`".
            value: What was found.
            remedy: A sentence that says what to do.
            error: The kind of error to raise.

        Raises:
            MetaBOError: Of the kind given, if the value is not accepted.
        """
        if not self.accepts(value):
            raise error(f"{where} must be {self.form}, but is {brief(value)}. {remedy}".rstrip())

    def require(self, name: str, value: object, *, in_shell: str | None = None) -> None:
        """Raise unless an argument is such a value.

        Args:
            name: The argument's name in Python.
            value: What was given.
            in_shell: The argument's name in the shell, if it is not an option of this name.

        Raises:
            OptionError: If the value is not accepted.
        """
        if not self.accepts(value):
            if self.choices and isinstance(value, str):
                raise unknown(name, value, self.choices)
            rest = f"must be {self.form}, but got {brief(value)}."
            shell = None if in_shell is None else f"`{in_shell}` {rest}"
            raise OptionError(f"`{name}` {rest}", shell=shell)


def is_number(value: object) -> bool:
    """Whether a value is a finite number that a float can hold; `True` and `False` are not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number may be too large for a float
        return False


def whole(low: int, high: int) -> Rule:
    """A whole number between limits, which are included."""
    return Rule(
        f"a whole number in {low}..{high}",
        lambda v: isinstance(v, int) and not isinstance(v, bool) and low <= v <= high,
    )


def number(low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf) -> Rule:
    """A finite number between limits, which are included, and above another, which is not."""
    form = "a finite number"
    if above > -math.inf:
        form = "a positive number" if above == 0 else f"a finite number above {above:g}"
    elif low > -math.inf:
        form = f"a finite number of at least {low:g}"
    if high < math.inf:
        form = f"a number in {low:g}..{high:g}" if low > -math.inf else f"{form} up to {high:g}"
    # `is_number` comes first: comparisons with other values could raise.
    return Rule(form, lambda v: is_number(v) and low <= v <= high and v > above)  # type: ignore[operator]


def one_of(*values: str) -> Rule:
    """One of a few words."""
    words = [f"`{value}`" for value in values]
    form = " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    return Rule(form, lambda v: isinstance(v, str) and v in values, values)


def list_of(each: Rule, what: str, *, least: int = 0, most: int | None = None) -> Rule:
    """A list whose items are all accepted, such as `list_of(NAME, "names")`."""
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
FLAG = Rule("true or false", lambda v: isinstance(v, bool))
OBJECT = Rule("an object", lambda v: isinstance(v, Mapping))
BUDGET = whole(1, MAX_BUDGET)
SEED = whole(-(2**63), 2**63 - 1)


def require_fields(
    record: object,
    rules: Mapping[str, Rule],
    where: str,
    *,
    required: Collection[str] = (),
    remedy: str,
    error: type[MetaBOError] = DataError,
) -> dict[str, object]:
    """The fields of an object from outside, each as its rule says.

    Args:
        record: What was read.
        rules: The fields it may have.
        where: Where it stands, for messages, such as "`table.json`".
        required: The fields it must have.
        remedy: A sentence that says what to do.
        error: The kind of error to raise.

    Returns:
        The fields, in a new dictionary.

    Raises:
        MetaBOError: Of the kind given, if a field is unknown, missing or not accepted.
    """
    OBJECT.require_in(where, record, remedy=remedy, error=error)
    assert isinstance(record, Mapping)
    for name, value in record.items():
        if name not in rules:
            raise error(
                f"{where} must have no other fields than {listed(rules)}, but has "
                f"`{shown(name)}`. {remedy}".rstrip()
            )
        rules[name].require_in(f"`{shown(name)}` in {where}", value, remedy=remedy, error=error)
    for name in required:
        if name not in record:
            raise error(f"`{name}` is missing in {where}. {remedy}".rstrip())
    return dict(record)
