"""Single faults in a file, as disks, networks and editors make them."""

import random
from collections.abc import Iterator


def faults(content: bytes, n: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many damaged versions of the content, each different from it."""
    draw, made = random.Random(seed), 0
    kinds = [_flip, _cut, _hole, _zeros, _copy]
    while made < n:
        kind = kinds[made % len(kinds)]
        damaged = kind(bytearray(content), draw)
        if damaged != content:
            made += 1
            yield f"{kind.__name__} {made}", bytes(damaged)


def _place(content: bytearray, draw: random.Random) -> int:
    # Half of them near the start, where headers are, which are short beside the rest.
    return draw.randrange(min(len(content), 4096) if draw.random() < 0.5 else len(content))


def _flip(content: bytearray, draw: random.Random) -> bytearray:
    content[_place(content, draw)] ^= 1 << draw.randrange(8)
    return content


def _cut(content: bytearray, draw: random.Random) -> bytearray:
    return content[: _place(content, draw)]


def _hole(content: bytearray, draw: random.Random) -> bytearray:
    at = _place(content, draw)
    del content[at : at + draw.randint(1, 64)]
    return content


def _zeros(content: bytearray, draw: random.Random) -> bytearray:
    at = _place(content, draw)
    end = min(len(content), at + draw.randint(1, 512))
    content[at:end] = bytes(end - at)
    return content


def _copy(content: bytearray, draw: random.Random) -> bytearray:
    """A block that lies where another should, of the same length."""
    size = draw.randint(8, 256)
    source, at = (draw.randrange(max(1, len(content) - size)) for _ in range(2))
    content[at : at + size] = content[source : source + size]
    return content
