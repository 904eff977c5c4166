"""Policies that do not ask an acquisition function, or not always."""

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
    """Query a fixed point first (in a finite domain the nearest), then follow a policy."""

    x: float
    """Every coordinate of the first query: 0.5 is the midpoint, the paper's design for EI."""
    then: Policy
    domain: Domain

    def __post_init__(self) -> None:
        """Check that the start lies in the cube."""
        if not 0 <= self.x <= 1:
            raise DomainError(f"A start must lie in [0, 1], but got {self.x}.")

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """The fixed point in the first step, the other policy's choice in all later ones."""
        if state.n_observed:
            return self.then.propose(state, noise)
        point = state.gp.x.new_full((self.domain.dim,), self.x)
        if isinstance(self.domain, Finite):
            points = self.domain.points.to(point)
            point = points[(points - point).square().sum(-1).argmin()]
        return Proposal(point.expand(state.n_episodes, -1))


@dataclass(frozen=True)
class RandomSearch:
    """Query uniformly at random; on a finite domain without replacement while points are left."""

    domain: Domain

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """A uniform point for each episode."""
        if not isinstance(self.domain, Finite):
            return Proposal(noise.uniform(self.domain.dim).to(state.gp.x))
        x, _ = _unseen(self.domain.points, state, noise)
        return Proposal(x)


@dataclass(frozen=True, eq=False)
class EpsilonGreedy:
    """With probability epsilon a design that was not queried yet, else another policy's choice.

    The designs are the best ones of source tasks. Drawing without replacement needs no memory: the
    used ones are those observed. When all are used up, the other policy decides.
    """

    designs: Float[Tensor, "N D"]
    epsilon: Schedule
    then: Policy

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """A design or the other policy's choice, episode by episode."""
        design, is_left = _unseen(self.designs, state, noise.stream("design"))
        chance = noise.stream("epsilon").uniform(1)[:, 0]
        is_greedy = is_left & (chance < self.epsilon.at(state.step, state.budget))
        other = self.then.propose(state, noise).x
        return Proposal(torch.where(is_greedy[:, None], design, other))


def _unseen(
    points: Float[Tensor, "N D"], state: BOState, noise: Noise
) -> tuple[Float[Tensor, "E D"], Bool[Tensor, " E"]]:
    """For each episode one of the points, at random among those not queried while there are any.

    Also gives whether there are any.
    """
    points = points.to(state.gp.x)
    draws = noise.uniform(len(points)).to(points)
    seen = queried(for_all(points, state), state.history)
    index = torch.where(seen, draws - 1, draws).argmax(-1)
    return points[index], ~seen.all(-1)
