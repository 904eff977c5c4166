"""Named random streams.

There are two sources of randomness, each a pure function of its name:

- tasks are drawn from a `torch.Generator` seeded by (seed, stream name);
- random numbers inside episodes come from `Noise`, a counter-based generator keyed by (seed,
  episode, step). An episode therefore draws the same numbers alone as in lockstep with others,
  asking twice gives the same answer, and a draw costs a few integer operations on the episode's
  own device, which makes it safe inside a captured CUDA graph.
"""

from dataclasses import dataclass
from hashlib import blake2b

import torch
from torch import Tensor

from metabo.shapes import Float, Int

# 0x9E3779B97F4A7C15 as a signed 64-bit integer, the increment of SplitMix64.
_GOLDEN = -7046029254386353131


def episodes_key(seed: int) -> int:
    """Return the key from which all random numbers inside a seed's episodes are derived."""
    return _digest(f"episodes/{seed}")


def generator(seed: int, stream: str) -> torch.Generator:
    """Return a CPU generator for one named stream of a seed; streams never share draws.

    Examples:
        >>> a, b = generator(0, "tasks"), generator(0, "tasks")
        >>> bool(torch.rand(1, generator=a) == torch.rand(1, generator=b))
        True
    """
    return torch.Generator().manual_seed(_digest(f"{stream}/{seed}"))


@dataclass(frozen=True)
class Noise:
    """Uniform and normal random numbers for one step of each episode.

    Examples:
        >>> noise = Noise.at(0, episodes=torch.arange(2), step=0)
        >>> noise.uniform(3).shape
        torch.Size([2, 3])
        >>> alone = Noise.at(0, episodes=torch.tensor([1]), step=0)
        >>> bool((alone.uniform(3) == noise.uniform(3)[1:]).all())
        True
    """

    key: Int[Tensor, " E"]
    """Hash of (seed, episode, step, stream), from which the random numbers are derived."""

    @classmethod
    def at(
        cls, seed: int | Int[Tensor, ""], *, episodes: Int[Tensor, " E"], step: int | Tensor
    ) -> "Noise":
        """Return the random numbers of one step, for the episodes with these numbers.

        Args:
            seed: Random seed, or a tensor that holds `episodes_key(seed)`, which a captured graph
                needs.
            episodes: Numbers of the episodes.
            step: Number of evaluations so far.
        """
        run = _mix(episodes * _GOLDEN + (episodes_key(seed) if isinstance(seed, int) else seed))
        # The product of tensors wraps around; `full` creates one on the device, in a graph too.
        count = torch.full((), step, device=episodes.device) if isinstance(step, int) else step
        return cls(_mix(run + (count + 1) * _GOLDEN))

    def stream(self, name: str) -> "Noise":
        """Return independent random numbers of the same step, for another purpose."""
        return Noise(_mix(self.key ^ _digest(name)))

    def uniform(self, n: int) -> Float[Tensor, "E n"]:
        """Draw from the open interval (0, 1), in float64; `uniform(m)` is a prefix of it."""
        counter = torch.arange(1, n + 1, device=self.key.device) * _GOLDEN
        bits = _mix(self.key[:, None] + counter)  # E n
        # 52 bits plus a half: with 53 bits the largest draw would round to 1, and `normal` would
        # be infinite there.
        return (_shift(bits, 12).double() + 0.5) * 2.0**-52

    def normal(self, n: int) -> Float[Tensor, "E n"]:
        """Draw standard normal numbers, in float64, by inversion of `uniform`."""
        return torch.special.ndtri(self.uniform(n))


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def _mix(z: Tensor) -> Tensor:
    """Apply SplitMix64's finalizer to int64 numbers, whose products wrap around."""
    z = (z ^ _shift(z, 30)) * -4658895280553007687  # 0xBF58476D1CE4E5B9
    z = (z ^ _shift(z, 27)) * -7723592293110705685  # 0x94D049BB133111EB
    return z ^ _shift(z, 31)


def _shift(z: Tensor, n: int) -> Tensor:
    """Shift right logically; torch's own shift keeps the sign."""
    return (z >> n) & ((1 << (64 - n)) - 1)
