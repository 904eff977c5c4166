"""Portfolios: fixed lists of designs, the best use of past results without a model.

Both orders are derived from the values of M source tasks at the same N points. They use no
information about the target, so a learned acquisition function must beat them to be worthwhile.
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
    """Designs in the order of the queries."""

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Return the next design, the same in every episode.

        Raises:
            OptionError: If all designs were queried.
        """
        if state.n_observed >= len(self.designs):
            raise OptionError(
                f"The list has {len(self.designs)} designs, and all were queried. Use a budget of "
                f"at most {len(self.designs)}."
            )
        design = self.designs[state.n_observed].to(state.gp.x)
        return Proposal(design.expand(state.n_episodes, -1))


def by_mean_rank(values: Float[Tensor, "M N"]) -> Int[Tensor, " N"]:
    """Order points by their mean rank over the sources, the best first.

    Ties share the mean of their ranks, so that flat regions favour no point.

    Returns:
        The indices of all points, in order.

    Examples:
        >>> by_mean_rank(torch.tensor([[0.0, 1.0, 2.0], [0.0, 2.0, 1.0]])).tolist()
        [1, 2, 0]
    """
    below = (values[:, :, None] > values[:, None, :]).sum(-1)  # M N
    equal = (values[:, :, None] == values[:, None, :]).sum(-1)
    rank = (below + 0.5 * equal).double().mean(0)
    return rank.argsort(descending=True, stable=True)


def greedy_portfolio(values: Float[Tensor, "M N"]) -> Int[Tensor, " N"]:
    """Order points so that each lowers the sources' mean regret most, given those before it.

    This is the greedy answer to the question which k points minimize the mean over sources of the
    best regret among them. When no point lowers it any further, points follow by mean regret.

    Returns:
        The indices of all points, in order.

    Examples:
        >>> greedy_portfolio(torch.tensor([[2.0, 0.0, 1.5], [0.0, 2.0, 1.5]])).tolist()
        [2, 0, 1]
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
