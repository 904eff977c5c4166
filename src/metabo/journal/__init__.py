"""An append-only file of JSON lines, one header followed by records, that never loses a record.

A record is on the disk before `append` returns. Threads, forks and processes take turns. Each line
has a number, its own checksum and the checksum of the line before, so that any damage is detected
and located.
"""

from metabo.journal.file import Journal, Writing
from metabo.journal.lines import FORMAT, Content, Damage, Entry
from metabo.journal.memory import Memory
from metabo.journal.salvage import Salvage, salvage

__all__ = [
    "FORMAT",
    "Content",
    "Damage",
    "Entry",
    "Journal",
    "Memory",
    "Salvage",
    "Writing",
    "salvage",
]
