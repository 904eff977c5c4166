"""GP hyperparameters fitted during the run, for users who know none."""

from dataclasses import dataclass
from typing import Literal

from metabo.gp import GP, HyperPrior, KernelName, fitted_prior, reduced, standardized
from metabo.policies.base import Policy, Proposal
from metabo.seeding import Noise
from metabo.state import BOState, History


@dataclass(frozen=True)
class Refitted:
    """Follow another policy, with a GP whose hyperparameters are refitted at every step.

    The prior of the state is ignored: values are standardized, and the hyperparameters of each
    episode are fitted at every step, all episodes in one batch.
    """

    then: Policy
    """Policy that decides, given the refitted GP."""
    kernel: KernelName = "matern52"
    """Correlation function of the GP."""
    hyperprior: HyperPrior | Literal["usual"] | None = "usual"
    """Prior on the hyperparameters; None to fit them by maximum likelihood."""

    def propose(self, state: BOState, noise: Noise) -> Proposal:
        """Return the other policy's choice under the refitted GP."""
        x, y = state.history.x, standardized(state.history.y)
        prior = fitted_prior(x, y, kernel=self.kernel, hyperprior=self.hyperprior)
        seen = reduced(prior, x, y)
        gp = GP.of(prior, *seen) if y.shape[-1] else GP.empty(prior, state.n_episodes)
        told = None if seen[0].shape == x.shape else History(x, y)
        return self.then.propose(BOState(gp, state.step, state.budget, told), noise)
