"""Policies that decide by an acquisition function: test and training differ in this one word."""

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
    """Query where the AF is largest, at any such point with equal chance if there are several."""

    af: AcquisitionFunction
    search: Searcher

    @torch.no_grad()
    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """The best candidate of each episode; the noise decides ties only."""
        candidates = self.search.candidates(state, self.af)
        index = any_best(candidates.score, noise.uniform(1))
        return Proposal(_at(candidates, index), candidates, index)


@dataclass(frozen=True)
class Sample:
    """Query a candidate drawn from the categorical distribution with the scores as logits."""

    af: AcquisitionFunction
    search: Searcher

    @torch.no_grad()
    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """A random candidate of each episode."""
        candidates = self.search.candidates(state, self.af)
        log_probability = candidates.score.double().log_softmax(-1)
        # By inversion: one number per episode decides, whatever the number of candidates.
        cumulative = log_probability.exp().cumsum(-1)
        target = noise.uniform(1) * cumulative[:, -1:]
        index = torch.searchsorted(cumulative, target)[:, 0].clamp(max=cumulative.shape[-1] - 1)
        chosen = log_probability.gather(1, index[:, None])[:, 0]
        return Proposal(_at(candidates, index), candidates, index, chosen)


def _at(candidates: Candidates, index: Int[torch.Tensor, " E"]) -> torch.Tensor:
    return candidates.take(index[:, None]).belief.x[:, 0]
