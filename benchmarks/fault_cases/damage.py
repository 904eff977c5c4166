"""Single faults in a file, as disks, networks and editors make them."""

from collections.abc import Callable, Iterator
from itertools import cycle
from random import Random


def damaged(content: bytes, n: int, chance: Random) -> Iterator[tuple[str, bytes]]:
    """Yield `n` copies of the content with one fault each, and the kind of the fault."""
    kinds, made = cycle(KINDS), 0
    while made < n:
        kind = next(kinds)
        changed = bytes(KINDS[kind](bytearray(content), chance))
        if changed != content:  # a file of one line has none to swap
            made += 1
            yield kind, changed


def _place(content: bytearray, chance: Random) -> int:
    # Half of them near the start, where headers are, which are short beside the rest.
    return chance.randrange(min(len(content), 4096) if chance.random() < 0.5 else len(content))


def _flip(content: bytearray, chance: Random) -> bytearray:
    content[_place(content, chance)] ^= 1 << chance.randrange(8)
    return content


def _cut(content: bytearray, chance: Random) -> bytearray:
    return content[: _place(content, chance)]


def _hole(content: bytearray, chance: Random) -> bytearray:
    at = _place(content, chance)
    del content[at : at + chance.randint(1, 64)]
    return content


def _zeros(content: bytearray, chance: Random) -> bytearray:
    at = _place(content, chance)
    end = min(len(content), at + chance.randint(1, 512))
    content[at:end] = bytes(end - at)
    return content


def _block(content: bytearray, chance: Random) -> bytearray:
    """A block in the place of another."""
    size = chance.randint(8, 256)
    source, at = (chance.randrange(max(1, len(content) - size)) for _ in range(2))
    content[at : at + size] = content[source : source + size]
    return content


def _line_twice(content: bytearray, chance: Random) -> bytearray:
    lines = content.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    return bytearray(b"".join([*lines[:at], lines[at], *lines[at:]]))


def _line_dropped(content: bytearray, chance: Random) -> bytearray:
    lines = content.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    return bytearray(b"".join([*lines[:at], *lines[at + 1 :]]))


def _lines_swapped(content: bytearray, chance: Random) -> bytearray:
    lines = content.splitlines(keepends=True)
    one, other = (chance.randrange(len(lines)) for _ in range(2))
    lines[one], lines[other] = lines[other], lines[one]
    return bytearray(b"".join(lines))


KINDS: dict[str, Callable[[bytearray, Random], bytearray]] = {
    "flip": _flip,
    "cut": _cut,
    "hole": _hole,
    "zeros": _zeros,
    "block": _block,
    "line twice": _line_twice,
    "line dropped": _line_dropped,
    "lines swapped": _lines_swapped,
}
