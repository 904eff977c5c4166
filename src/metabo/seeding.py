"""Named random streams.

Two kinds of randomness, each a pure function of what names it:

- tasks are drawn from a `torch.Generator` made of (seed, stream name);
- what happens inside episodes comes from `Noise`, a counter-based generator keyed by (seed,
  episode, step). So an episode run alone draws what it draws in lockstep with others, asking twice
  gives one answer, and a draw costs a few integer operations on the episode's own device, which
  also makes it safe inside a captured CUDA graph.
"""

from dataclasses import dataclass
from hashlib import blake2b

import torch
from torch import Tensor

from metabo.shapes import Float, Int

# 0x9E3779B97F4A7C15 as a signed 64-bit integer, the increment of SplitMix64.
_GOLDEN = -7046029254386353131


def episodes_key(seed: int) -> int:
    """What all draws inside the episodes of a seed are a function of."""
    return _digest(f"episodes/{seed}")


def generator(seed: int, stream: str) -> torch.Generator:
    """A CPU generator for one named stream of a seed: streams never share draws."""
    return torch.Generator().manual_seed(_digest(f"{stream}/{seed}"))


@dataclass(frozen=True)
class Noise:
    """Uniform and normal draws for one step of each episode."""

    key: Int[Tensor, " E"]
    """What the draws are a function of: a hash of (seed, episode, step, stream)."""

    @classmethod
    def at(
        cls, seed: int | Int[Tensor, ""], *, episodes: Int[Tensor, " E"], step: int | Tensor
    ) -> "Noise":
        """The draws of one step, for the episodes with these numbers.

        A captured graph needs its seed in a tensor, which then holds `episodes_key(seed)`.
        """
        run = _mix(episodes * _GOLDEN + (episodes_key(seed) if isinstance(seed, int) else seed))
        # As a tensor its product wraps around; `full` makes it on the device, in a graph too.
        count = torch.full((), step, device=episodes.device) if isinstance(step, int) else step
        return cls(_mix(run + (count + 1) * _GOLDEN))

    def stream(self, name: str) -> "Noise":
        """An independent set of draws of the same step, for another purpose."""
        return Noise(_mix(self.key ^ _digest(name)))

    def uniform(self, n: int) -> Float[Tensor, "E n"]:
        """Draws from the open (0, 1), in float64; the first m of n are those of `uniform(m)`."""
        counter = torch.arange(1, n + 1, device=self.key.device) * _GOLDEN
        bits = _mix(self.key[:, None] + counter)  # E n
        # 52 bits and a half: with 53 the largest draw would round to 1, and `normal` to infinity.
        return (_shift(bits, 12).double() + 0.5) * 2.0**-52

    def normal(self, n: int) -> Float[Tensor, "E n"]:
        """Standard normal draws, in float64, by inversion of `uniform`."""
        return torch.special.ndtri(self.uniform(n))


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def _mix(z: Tensor) -> Tensor:
    """SplitMix64's finalizer on int64, whose products wrap around."""
    z = (z ^ _shift(z, 30)) * -4658895280553007687  # 0xBF58476D1CE4E5B9
    z = (z ^ _shift(z, 27)) * -7723592293110705685  # 0x94D049BB133111EB
    return z ^ _shift(z, 31)


def _shift(z: Tensor, n: int) -> Tensor:
    """Logical right shift; torch's own keeps the sign."""
    return (z >> n) & ((1 << (64 - n)) - 1)
