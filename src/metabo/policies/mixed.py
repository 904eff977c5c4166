"""Policies that do not ask an acquisition function, or not always."""

from dataclasses import dataclass

import torch

from metabo.domain import Domain, Finite
from metabo.errors import DomainError
from metabo.policies.base import Policy, Proposal
from metabo.seeding import Noise
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
        points = self.domain.points.to(state.gp.x)
        draws = noise.uniform(len(points)).to(state.gp.x)
        seen = (state.history.x[:, :, None, :] == points).all(-1).any(1)  # E N
        index = torch.where(seen, draws - 1, draws).argmax(-1)
        return Proposal(points[index])
