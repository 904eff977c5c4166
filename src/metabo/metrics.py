"""How well runs did."""

import torch
from torch import Tensor

from metabo.shapes import Float, Int


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
    return torch.quantile(regret, regret.new_tensor(levels), dim=0)


def fraction_solved(regret: Float[Tensor, "E T"], threshold: float) -> Float[Tensor, " T"]:
    """The share of episodes whose regret is at most the threshold, at each step."""
    return (regret <= threshold).to(regret.dtype).mean(0)


def steps_to(regret: Float[Tensor, "E T"], threshold: float) -> Int[Tensor, " E"]:
    """The first step, from 1, with regret at most the threshold; T + 1 where there is none."""
    reached = regret <= threshold
    first = reached.byte().argmax(-1) + 1
    return torch.where(reached.any(-1), first, regret.shape[-1] + 1)
