"""Errors a user can cause; every message states the rule, the value and the remedy."""

from collections.abc import Iterable
from difflib import get_close_matches


class MetaBOError(Exception):
    """Any mistake that `metabo` can name."""

    def __init__(self, message: str, *, shell: str | None = None) -> None:
        """State the mistake.

        Args:
            message: In the words of Python.
            shell: In the words of the shell, where they differ.
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
    """A package that only an extra of metabo brings is missing."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed. Install it with `pip install metabo[{extra}]`."
        )


class BusyError(MetaBOError, OSError):
    """A file was in use by others for longer than anyone should wait."""


def unknown(kind: str, name: str, known: Iterable[str]) -> OptionError:
    """The error for a name that is not among the known ones, with the nearest of them."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    remedy = f"Did you mean `{near[0]}`? " if near else ""
    choices = ", ".join(f"`{n}`" for n in names) if names else "none"
    return OptionError(f"Unknown {kind} `{name}`. {remedy}Choose from: {choices}.")
