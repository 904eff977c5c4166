"""Fixed lists of designs: what can be had from past results without any model.

Both orders are found from the values of M source tasks at the same N points. They ask nothing of
the target, so a learned acquisition function has to beat them to be worth its while.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.errors import OptionError
from metabo.policies.base import Proposal
from metabo.seeding import Noise
from metabo.shapes import Float, Int
from metabo.state import BOState


@dataclass(frozen=True, eq=False)
class FollowList:
    """Query the designs of a list, one after another."""

    designs: Float[Tensor, "N D"]

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """The next design, the same in every episode."""
        if state.n_observed >= len(self.designs):
            raise OptionError(
                f"The list has {len(self.designs)} designs, but another is asked for. Give a "
                f"budget of at most {len(self.designs)}."
            )
        design = self.designs[state.n_observed].to(state.gp.x)
        return Proposal(design.expand(state.n_episodes, -1))


def by_mean_rank(values: Float[Tensor, "M N"]) -> Int[Tensor, " N"]:
    """All points, that of the best mean rank over the sources first.

    Ties share the mean of their ranks, so that flat regions favour nobody.
    """
    below = (values[:, :, None] > values[:, None, :]).sum(-1)  # M N
    equal = (values[:, :, None] == values[:, None, :]).sum(-1)
    rank = (below + 0.5 * equal).double().mean(0)
    return rank.argsort(descending=True, stable=True)


def greedy_portfolio(values: Float[Tensor, "M N"]) -> Int[Tensor, " N"]:
    """All points, each the one that most lowers the sources' mean regret after those before it.

    It is the greedy answer to: which k points leave the least mean of the best regret among them?
    When none lowers it any more, the order is that of the mean regret.
    """
    regret = values.amax(-1, keepdim=True) - values
    left = torch.full_like(regret[:, :1], torch.inf)
    alone = regret.mean(0)
    chosen: list[int] = []
    for _ in range(values.shape[1]):
        after = torch.minimum(left, regret).mean(0)
        after[chosen] = torch.inf
        tied = after <= after.min() * (1 + 1e-12)
        index = int(torch.where(tied, alone, torch.inf).argmin())
        chosen.append(index)
        left = torch.minimum(left, regret[:, index : index + 1])
    return torch.tensor(chosen)
