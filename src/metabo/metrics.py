"""How well runs did."""

import torch
from torch import Tensor

from metabo.seeding import generator
from metabo.shapes import Float, Int

_AT_ONCE = 2**24
"""Numbers that are sorted or drawn again at a time, to bound memory."""


def simple_regret(
    values: Float[Tensor, "E T"], observed: Float[Tensor, "E T"], optimum: Float[Tensor, " E"]
) -> Float[Tensor, "E T"]:
    """R_t = f(x*) - f(x_t+), with x_t+ where the best value up to step t was *observed*.

    With noise the value there may be worse than one seen before: the optimizer cannot know, so
    regret may rise.
    """
    incumbent = observed.cummax(-1).indices
    return optimum[:, None] - values.gather(-1, incumbent)


def quantiles(regret: Float[Tensor, "E T"], levels: list[float]) -> Float[Tensor, "q T"]:
    """Quantiles over episodes at each step, linearly interpolated."""
    # torch takes 2**24 numbers at a time; the steps do not depend on one another.
    width = max(1, _AT_ONCE // max(1, len(regret)))
    parts = [torch.quantile(p, regret.new_tensor(levels), dim=0) for p in regret.split(width, 1)]
    return torch.cat(parts, -1)


def bootstrap_mean(
    regret: Float[Tensor, "E T"], *, level: float = 0.9, draws: int = 2000, seed: int = 0
) -> Float[Tensor, "3 T"]:
    """Lower end, mean and upper end of an interval for the mean over tasks.

    Tasks are drawn again with replacement: the interval tells how much the mean depends on which
    of them happened to be there. Methods given the same seed are compared on the same draws.
    """
    source, n = generator(seed, "bootstrap"), len(regret)
    # One stream, whatever the number of draws at a time: results do not depend on it.
    left = torch.arange(draws).split(max(1, _AT_ONCE // max(1, regret.numel())))
    parts = [regret[_resampled(n, len(some), source)].mean(1) for some in left]
    means = torch.cat(parts)  # draws T
    return _interval(means, regret.mean(0), level)


def bootstrap_median(
    regret: Float[Tensor, "E T"], *, level: float = 0.9, draws: int = 1000, seed: int = 0
) -> Float[Tensor, "3 T"]:
    """Lower end, median and upper end of an interval for the median over tasks, as above."""
    medians = regret[_resampled(len(regret), draws, generator(seed, "bootstrap"))].quantile(
        0.5, 1
    )  # draws T
    return _interval(medians, regret.quantile(0.5, 0), level)


def bootstrap_steps(
    regret: Float[Tensor, "E T"],
    threshold: float,
    *,
    level: float = 0.9,
    draws: int = 300,
    seed: int = 0,
) -> tuple[int, int, int]:
    """Lower end, value and upper end of the first step with a median at most the threshold.

    T + 1 stands for never.
    """
    medians = regret[_resampled(len(regret), draws, generator(seed, "bootstrap"))].quantile(
        0.5, 1
    )  # draws T
    steps = steps_to(medians, threshold).sort().values
    cut = int((1 - level) / 2 * draws)
    whole = steps_to(regret.quantile(0.5, 0)[None], threshold)
    return int(steps[cut]), int(whole), int(steps[draws - 1 - cut])


def _resampled(n: int, draws: int, source: torch.Generator) -> Int[Tensor, "draws n"]:
    return torch.randint(n, (draws, n), generator=source)


def _interval(
    drawn: Float[Tensor, "draws T"], whole: Float[Tensor, " T"], level: float
) -> Float[Tensor, "3 T"]:
    ends = drawn.new_tensor([(1 - level) / 2, (1 + level) / 2])
    low, high = torch.quantile(drawn, ends, dim=0)
    return torch.stack([low, whole, high])


def fraction_solved(regret: Float[Tensor, "E T"], threshold: float) -> Float[Tensor, " T"]:
    """The share of episodes whose regret is at most the threshold, at each step."""
    return (regret <= threshold).to(regret.dtype).mean(0)


def steps_to(regret: Float[Tensor, "E T"], threshold: float) -> Int[Tensor, " E"]:
    """The first step, from 1, with regret at most the threshold; T + 1 where there is none."""
    reached = regret <= threshold
    first = reached.byte().argmax(-1) + 1
    return torch.where(reached.any(-1), first, regret.shape[-1] + 1)
