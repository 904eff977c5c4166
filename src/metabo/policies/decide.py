"""Policies based on an acquisition function: `Maximize` in use, `Sample` in training."""

from dataclasses import dataclass

import torch

from metabo.acquisition import AcquisitionFunction
from metabo.policies.base import Proposal
from metabo.policies.searchers.base import Searcher
from metabo.policies.searchers.candidates import Candidates, any_best
from metabo.seeding import Noise
from metabo.shapes import Int
from metabo.state import BOState


@dataclass(frozen=True)
class Maximize:
    """Query where the AF is largest; ties are broken uniformly at random.

    Examples:
        >>> from metabo.acquisition import EI
        >>> from metabo.domain import Box
        >>> from metabo.gp import Prior
        >>> from metabo.policies import searcher
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> x, y = torch.full((1, 1, 1), 0.5).double(), torch.zeros(1, 1).double()
        >>> state = BOState.after(prior, x, y, budget=10)
        >>> policy = Maximize(EI(), searcher("gradient", Box(1)))
        >>> noise = Noise.at(0, episodes=torch.arange(1), step=1)
        >>> float(policy.propose(state, noise).x) in (0.0, 1.0)  # far from the observation
        True
    """

    af: AcquisitionFunction
    """Acquisition function to maximize."""
    search: Searcher
    """Finds the candidates."""

    @torch.no_grad()
    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Return the best candidate of each episode; the noise only breaks ties."""
        candidates = self.search.candidates(state, self.af)
        index = any_best(candidates.score, noise.uniform(1))
        return Proposal(_at(candidates, index), candidates, index)


@dataclass(frozen=True)
class Sample:
    """Query a candidate drawn from the categorical distribution with the scores as logits."""

    af: AcquisitionFunction
    """Acquisition function whose scores are the logits."""
    search: Searcher
    """Finds the candidates."""

    @torch.no_grad()
    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Return a random candidate of each episode."""
        candidates = self.search.candidates(state, self.af)
        log_probability = candidates.score.double().log_softmax(-1)
        # By inversion: one random number per episode, whatever the number of candidates.
        cumulative = log_probability.exp().cumsum(-1)
        target = noise.uniform(1) * cumulative[:, -1:]
        index = torch.searchsorted(cumulative, target)[:, 0].clamp(max=cumulative.shape[-1] - 1)
        chosen = log_probability.gather(1, index[:, None])[:, 0]
        return Proposal(_at(candidates, index), candidates, index, chosen)


def _at(candidates: Candidates, index: Int[torch.Tensor, " E"]) -> torch.Tensor:
    return candidates.take(index[:, None]).belief.x[:, 0]
