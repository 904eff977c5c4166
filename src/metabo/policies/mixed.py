"""Policies that use no acquisition function, or not at every step."""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.acquisition import Schedule
from metabo.domain import Domain, Finite
from metabo.errors import DomainError
from metabo.policies.base import Policy, Proposal
from metabo.policies.searchers.base import for_all, queried
from metabo.seeding import Noise
from metabo.shapes import Bool, Float
from metabo.state import BOState


@dataclass(frozen=True)
class StartAt:
    """Query a fixed point first (in a finite domain the nearest one), then follow a policy.

    Raises:
        DomainError: If `x` is not in [0, 1].
    """

    x: float
    """Value of every coordinate of the first query; 0.5 is the midpoint, the paper's design."""
    then: Policy
    """Policy that decides all later queries."""
    domain: Domain
    """Domain of the queries."""

    def __post_init__(self) -> None:
        """Check that the start lies in the cube."""
        if not 0 <= self.x <= 1:
            raise DomainError(f"A start must lie in [0, 1], but got {self.x}.")

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Return the fixed point in the first step and the other policy's choice later."""
        if state.n_observed:
            return self.then.propose(state, noise)
        point = state.gp.x.new_full((self.domain.dim,), self.x)
        if isinstance(self.domain, Finite):
            points = self.domain.points.to(point)
            point = points[(points - point).square().sum(-1).argmin()]
        return Proposal(point.expand(state.n_episodes, -1))


@dataclass(frozen=True)
class RandomSearch:
    """Query uniformly at random; on a finite domain without replacement while points are left.

    Examples:
        >>> from metabo.domain import Box
        >>> from metabo.gp import Prior
        >>> prior = Prior.of([0.3, 0.3], signal_variance=1.0, noise_variance=0.0)
        >>> state = BOState.start(prior, episodes=3, budget=10)
        >>> noise = Noise.at(0, episodes=torch.arange(3), step=0)
        >>> RandomSearch(Box(2)).propose(state, noise).x.shape
        torch.Size([3, 2])
    """

    domain: Domain
    """Domain of the queries."""

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Return a uniformly distributed point for each episode."""
        if not isinstance(self.domain, Finite):
            return Proposal(noise.uniform(self.domain.dim).to(state.gp.x))
        x, _ = _unseen(self.domain.points, state, noise)
        return Proposal(x)


@dataclass(frozen=True, eq=False)
class EpsilonGreedy:
    """Query an unused design with probability epsilon, else follow another policy.

    The designs are the best ones of source tasks. Drawing them without replacement needs no
    memory: the observations show which were used. When all are used up, the other policy decides.
    """

    designs: Float[Tensor, "N D"]
    """Designs to try, such as the best ones of source tasks."""
    epsilon: Schedule
    """Probability of trying a design."""
    then: Policy
    """Policy that decides the other queries."""

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Return a design or the other policy's choice, independently for each episode."""
        design, is_left = _unseen(self.designs, state, noise.stream("design"))
        chance = noise.stream("epsilon").uniform(1)[:, 0]
        is_greedy = is_left & (chance < self.epsilon.at(state.step, state.budget))
        other = self.then.propose(state, noise).x
        return Proposal(torch.where(is_greedy[:, None], design, other))


def _unseen(
    points: Float[Tensor, "N D"], state: BOState, noise: Noise
) -> tuple[Float[Tensor, "E D"], Bool[Tensor, " E"]]:
    """Draw for each episode one of the points, among those not queried as long as there are any.

    Returns:
        The points, and whether any was left.
    """
    points = points.to(state.gp.x)
    draws = noise.uniform(len(points)).to(points)
    seen = queried(for_all(points, state), state.history)
    index = torch.where(seen, draws - 1, draws).argmax(-1)
    return points[index], ~seen.all(-1)
