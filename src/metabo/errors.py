"""Errors that a user can cause; every message states the rule, the value and the remedy.

A message is a single line of limited length, whatever value was given: values are inserted by
`shown` (text) and `brief` (anything else).
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from reprlib import Repr

_SHOWN = 200
"""Largest number of characters of a name or value that a message repeats."""
_LISTED = 600
"""Number of characters after which a list of known names is cut."""
_CLOSE = 0.6
"""Least similarity of a suggested name: that of `gird` and `grid` is 0.75."""


class MetaBOError(Exception):
    """Any mistake that `metabo` recognizes."""

    def __init__(self, message: str, *, shell: str | None = None) -> None:
        """Create the error.

        Args:
            message: Description of the mistake for Python users, with names such as `budget`.
            shell: The same for users of the shell, with names such as `--budget`, if it differs.
        """
        super().__init__(message)
        self.in_shell = shell or message


class ShapeError(MetaBOError, ValueError):
    """A tensor has the wrong shape."""


class DomainError(MetaBOError, ValueError):
    """A point lies outside the domain."""


class DataError(MetaBOError, ValueError):
    """A value or a file's content cannot be used."""


class OptionError(MetaBOError, ValueError):
    """An unknown name, or an option that does not fit."""


class OutputError(MetaBOError, OSError):
    """A result cannot be written to the requested place."""


class ExtraError(MetaBOError, ImportError):
    """A package that an extra of metabo installs is missing."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed. Install it with `pip install metabo[{extra}]`."
        )


class BusyError(MetaBOError, OSError):
    """Another process did not release a file within the time limit."""


def shown(text: object, most: int = _SHOWN) -> str:
    """Return text for a message: printable, on one line, and without the middle if it is long.

    Args:
        text: Untrusted text; `str` is applied to anything else.
        most: Largest number of characters, not counting the dots.
    """
    whole = text if isinstance(text, str) else str(text)
    if len(whole) > most:
        whole = f"{whole[: most // 2]}...{whole[-(most // 2) :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in whole)


def brief(value: object) -> str:
    """Return the `repr` of a value for a message, without the middle if it is long.

    It never raises and is fast: Python's `repr` raises for a whole number of 5,000 digits, and
    takes seconds for a large table.
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
    """Return the error for an unknown name, which suggests the nearest known one."""
    name = name if isinstance(name, str) else brief(name)
    names = sorted(known)
    near = nearest(name, names)
    remedy = "" if near is None else f"Did you mean `{near}`? "
    return OptionError(f"Unknown {kind} `{shown(name)}`. {remedy}Choose from: {listed(names)}.")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that was probably meant; None if none is similar."""
    if len(name) > _SHOWN:
        return None
    # The time to compare two names grows with the product of their lengths.
    short = [one for one in known[:1000] if len(one) <= _SHOWN]
    return next(iter(get_close_matches(name, short, n=1, cutoff=_CLOSE)), None)


def listed(names: Iterable[object]) -> str:
    """Return names in backticks for a message; a long list ends with the number left out."""
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
