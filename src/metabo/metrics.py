"""Metrics of optimization runs: regret, and its statistics over tasks."""

import torch
from torch import Tensor

from metabo.seeding import generator
from metabo.shapes import Float, Int

_AT_ONCE = 2**24
"""Numbers that are sorted or drawn again at a time, to bound memory."""


def simple_regret(
    values: Float[Tensor, "E T"], observed: Float[Tensor, "E T"], optimum: Float[Tensor, " E"]
) -> Float[Tensor, "E T"]:
    """Return the simple regret R_t = f(x*) - f(x_t+) after each step.

    x_t+ is the query whose *observed* value is the best up to step t. With noise its true value
    may be worse than that of an earlier incumbent, so regret may rise.

    Args:
        values: Noise-free values at the queries.
        observed: Values that the optimizer saw, noise included.
        optimum: Maximum of each task, f(x*).

    Examples:
        >>> values = torch.tensor([[1.0, 3.0, 2.0]])
        >>> simple_regret(values, values, torch.tensor([4.0])).tolist()
        [[3.0, 1.0, 1.0]]
    """
    incumbent = observed.cummax(-1).indices
    return optimum[:, None] - values.gather(-1, incumbent)


def quantiles(regret: Float[Tensor, "E T"], levels: list[float]) -> Float[Tensor, "q T"]:
    """Return the quantiles over episodes at each step, linearly interpolated.

    Examples:
        >>> quantiles(torch.tensor([[1.0], [2.0], [3.0]]), [0.5]).tolist()
        [[2.0]]
    """
    # torch sorts at most 2**24 numbers at a time; the steps do not depend on one another.
    width = max(1, _AT_ONCE // max(1, len(regret)))
    parts = [torch.quantile(p, regret.new_tensor(levels), dim=0) for p in regret.split(width, 1)]
    return torch.cat(parts, -1)


def bootstrap_mean(
    regret: Float[Tensor, "E T"], *, level: float = 0.9, draws: int = 2000, seed: int = 0
) -> Float[Tensor, "3 T"]:
    """Estimate a confidence interval of the mean over tasks by bootstrapping.

    Tasks are resampled with replacement: the interval shows how much the mean depends on which of
    them happened to be drawn. Methods with the same seed are compared on the same resamples.

    Returns:
        Lower end, mean and upper end of the interval at each step.

    Examples:
        >>> bootstrap_mean(torch.tensor([[2.0], [2.0]])).tolist()
        [[2.0], [2.0], [2.0]]
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
    """Estimate a confidence interval of the median over tasks by bootstrapping.

    Returns:
        Lower end, median and upper end of the interval at each step.

    Examples:
        >>> bootstrap_median(torch.tensor([[2.0], [2.0]])).tolist()
        [[2.0], [2.0], [2.0]]
    """
    drawn = _resampled(len(regret), draws, generator(seed, "bootstrap"))
    medians = regret[drawn].quantile(0.5, 1)  # draws T
    return _interval(medians, regret.quantile(0.5, 0), level)


def bootstrap_steps(
    regret: Float[Tensor, "E T"],
    threshold: float,
    *,
    level: float = 0.9,
    draws: int = 300,
    seed: int = 0,
) -> tuple[int, int, int]:
    """Estimate when the median over tasks reaches a threshold, with a bootstrap interval.

    Returns:
        Lower end, value and upper end of the first step, from 1, whose median is at most the
        threshold; T + 1 if no step is.

    Examples:
        >>> bootstrap_steps(torch.tensor([[2.0, 1.0, 0.5], [2.0, 1.0, 0.5]]), threshold=1.0)
        (2, 2, 2)
    """
    drawn = _resampled(len(regret), draws, generator(seed, "bootstrap"))
    medians = regret[drawn].quantile(0.5, 1)  # draws T
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
    """Return the share of episodes with regret at most the threshold, at each step.

    Examples:
        >>> fraction_solved(torch.tensor([[2.0, 0.1], [2.0, 1.0]]), threshold=0.5).tolist()
        [0.0, 0.5]
    """
    return (regret <= threshold).to(regret.dtype).mean(0)


def steps_to(regret: Float[Tensor, "E T"], threshold: float) -> Int[Tensor, " E"]:
    """Return the first step, from 1, with regret at most the threshold; T + 1 if there is none.

    Examples:
        >>> steps_to(torch.tensor([[2.0, 0.1], [2.0, 1.0]]), threshold=0.5).tolist()
        [2, 3]
    """
    reached = regret <= threshold
    first = reached.byte().argmax(-1) + 1
    return torch.where(reached.any(-1), first, regret.shape[-1] + 1)
