"""An append-only file of JSON lines, one header and then records, that loses nothing.

A record is on the disk before `append` returns. Threads, forks and processes take turns. Each line
is numbered, names the checksum of the one before and has one of its own, so that damage is found
and named, whatever it is.
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
