"""What counts as an answer to bad input."""

from collections.abc import Callable

from metabo.errors import MetaBOError

Outcome = tuple[int, int]
"""Tries and failures."""


def is_refused(work: Callable[[], object]) -> bool:
    """Whether work ends in a sentence, and not in a result or a traceback."""
    try:
        work()
    except MetaBOError as error:
        return "\n" not in str(error)
    return False
