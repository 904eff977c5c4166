"""Hyperparameters found during the run, as a user needs them who knows none."""

from dataclasses import dataclass
from typing import Literal

from metabo.gp import GP, HyperPrior, KernelName, fitted_prior, reduced, standardized
from metabo.policies.base import Policy, Proposal
from metabo.seeding import Noise
from metabo.state import BOState, History


@dataclass(frozen=True)
class Refitted:
    """Another policy's choice, from what a GP fitted to the values so far believes.

    Whatever prior the state has is not used: values are standardized and the hyperparameters of
    each episode found anew in every step, all episodes in one batch.
    """

    then: Policy
    kernel: KernelName = "matern52"
    hyperprior: HyperPrior | Literal["usual"] | None = "usual"
    """What is expected of the hyperparameters; with None the likelihood alone decides."""

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """The other policy's choice."""
        x, y = state.history.x, standardized(state.history.y)
        prior = fitted_prior(x, y, kernel=self.kernel, hyperprior=self.hyperprior)
        seen = reduced(prior, x, y)
        gp = GP.of(prior, *seen) if y.shape[-1] else GP.empty(prior, state.n_episodes)
        told = None if seen[0].shape == x.shape else History(x, y)
        return self.then.propose(BOState(gp, state.step, state.budget, told), noise)
