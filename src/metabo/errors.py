"""Errors a user can cause; every message states the rule, the value and the remedy.

A message is one line of bounded length, whatever was given: values enter it through `shown` (text)
and `brief` (anything else).
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from reprlib import Repr

_SHOWN = 200
"""Characters of a name or value that a message repeats."""
_LISTED = 600
"""Characters of known names that a message lists."""
_CLOSE = 0.6
"""Likeness from which on a name is suggested: of `gird` and `grid` it is 0.75."""


class MetaBOError(Exception):
    """Any mistake that `metabo` can name."""

    def __init__(self, message: str, *, shell: str | None = None) -> None:
        """State the mistake.

        Args:
            message: What is wrong, in the words of Python, such as `budget=`.
            shell: The same in the words of the shell, such as `--budget`, where they differ.
        """
        super().__init__(message)
        self.in_shell = shell or message


class ShapeError(MetaBOError, ValueError):
    """A tensor's axes do not fit."""


class DomainError(MetaBOError, ValueError):
    """A point lies outside the domain."""


class DataError(MetaBOError, ValueError):
    """A value or a file's content cannot be used."""


class OptionError(MetaBOError, ValueError):
    """An unknown name, or an option that does not fit."""


class OutputError(MetaBOError, OSError):
    """A result cannot be written where it was asked for."""


class ExtraError(MetaBOError, ImportError):
    """A package is missing that only an extra of metabo installs."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed. Install it with `pip install metabo[{extra}]`."
        )


class BusyError(MetaBOError, OSError):
    """Other processes kept a file in use for longer than anyone should wait."""


def shown(text: object, most: int = _SHOWN) -> str:
    """Text as a message can repeat it: printable, on one line, without the middle if it is long.

    Args:
        text: Text from outside; `str` is applied to anything else.
        most: Largest number of characters, not counting the dots.
    """
    whole = text if isinstance(text, str) else str(text)
    if len(whole) > most:
        whole = f"{whole[: most // 2]}...{whole[-(most // 2) :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in whole)


def brief(value: object) -> str:
    """The `repr` of a value as a message can repeat it, without the middle if it is long.

    Never raises, and never writes out what is long: `repr` of a whole number of 5,000 digits is an
    error in Python, and that of a large table takes seconds.
    """
    return shown(_BRIEF.repr(value).replace("\n", " "))


class _Brief(Repr):
    """`reprlib` that can show any whole number, with larger limits than the default."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 8
        self.maxstring = self.maxother = _SHOWN // 2
        self.maxlevel = 4

    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() > 256:
            return f"a whole number of about {x.bit_length() * 30103 // 100000} digits"
        return repr(x)


_BRIEF = _Brief()


def unknown(kind: str, name: object, known: Iterable[str]) -> OptionError:
    """The error for a name that is not among the known ones, with the nearest of them."""
    name = name if isinstance(name, str) else brief(name)
    names = sorted(known)
    near = nearest(name, names)
    remedy = "" if near is None else f"Did you mean `{near}`? "
    return OptionError(f"Unknown {kind} `{shown(name)}`. {remedy}Choose from: {listed(names)}.")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that a misspelled one probably stands for; None where none is close."""
    if len(name) > _SHOWN:
        return None
    # Comparing takes the product of the lengths, for each of the names.
    short = [one for one in known[:1000] if len(one) <= _SHOWN]
    return next(iter(get_close_matches(name, short, n=1, cutoff=_CLOSE)), None)


def listed(names: Iterable[object]) -> str:
    """Names in backticks for a message; a long list is cut, with the number of names left out."""
    every = list(names)
    if not every:
        return "none"
    parts: list[str] = []
    length = 0
    for name in every:
        parts.append(f"`{shown(name)}`")
        length += len(parts[-1]) + 2
        if length > _LISTED and len(parts) < len(every):
            return f"{', '.join(parts)} and {len(every) - len(parts)} more"
    return ", ".join(parts)
