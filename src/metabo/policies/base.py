"""What a policy is: it decides where each episode queries next."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import Tensor

from metabo.policies.searchers.candidates import Candidates
from metabo.seeding import Noise
from metabo.shapes import Float, Int
from metabo.state import BOState


@dataclass(frozen=True)
class Proposal:
    """The next query of each episode, and how it was chosen where there were candidates."""

    x: Float[Tensor, "E D"]
    candidates: Candidates | None = None
    index: Int[Tensor, " E"] | None = None
    """Which candidate was chosen."""
    log_probability: Float[Tensor, " E"] | None = None
    """Of choosing it, where the choice was random."""


@runtime_checkable
class Policy(Protocol):
    """A pure function of the state and of the step's random numbers."""

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Decide the next query of every episode."""
        ...
