"""A table as text, and what it is made from."""

from collections.abc import Mapping
from dataclasses import dataclass

from metabo.paper.runs import Record

Results = Mapping[tuple[str, str], Record]
"""Stored records by family and method; missing ones are not in it."""
NOTHING = "-"


@dataclass(frozen=True)
class Sheet:
    """A table as text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
