"""The policy protocol: a policy decides where each episode queries next."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import Tensor

from metabo.gp import LearnedPart
from metabo.policies.searchers.candidates import Candidates
from metabo.seeding import Noise
from metabo.shapes import Float, Int
from metabo.state import BOState


@dataclass(frozen=True)
class Proposal:
    """The next query of each episode, and how it was chosen if there were candidates."""

    x: Float[Tensor, "E D"]
    """Points to query next, in the unit cube."""
    candidates: Candidates | None = None
    """Candidates among which the points were chosen; None if there were none."""
    index: Int[Tensor, " E"] | None = None
    """Index of the chosen candidate in each episode."""
    log_probability: Float[Tensor, " E"] | None = None
    """Log-probability of the chosen candidate, if the choice was random."""


@runtime_checkable
class Policy(Protocol):
    """A pure function from the state and the step's random numbers to the next queries."""

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Decide the next query of every episode."""
        ...


@dataclass(frozen=True)
class Informed:
    """A policy, and what it has learned about the tasks: the belief it decides from."""

    policy: Policy
    """Decides the queries."""
    part: LearnedPart
    """Learned part of the prior, which completes the prior of a run."""

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Decide the next query of every episode."""
        return self.policy.propose(state, noise)


def informed(policy: Policy, part: LearnedPart | None) -> Policy:
    """Return the policy with what was learned about the tasks, if anything was."""
    return policy if part is None else Informed(policy, part)
