"""The one BO loop: E episodes in lockstep."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.gp import Prior
from metabo.metrics import simple_regret
from metabo.policies import Policy, Proposal
from metabo.seeding import Noise
from metabo.shapes import Float, Int
from metabo.state import BOState
from metabo.tasks import TaskFamily, Tasks, TasksWithPrior


@dataclass(frozen=True)
class Episodes:
    """What happened in a batch of finished runs."""

    queries: Float[Tensor, "E T D"]
    observed: Float[Tensor, "E T"]
    """The values the runs saw, noise included."""
    values: Float[Tensor, "E T"]
    """The noise-free values at the queries."""
    optimum: Float[Tensor, " E"]

    @property
    def regret(self) -> Float[Tensor, "E T"]:
        """Simple regret after each step."""
        return simple_regret(self.values, self.observed, self.optimum)


def rollout(
    policy: Policy,
    tasks: Tasks,
    family: TaskFamily,
    *,
    seed: int | Int[Tensor, ""],
    budget: int | None = None,
    prior: Prior | None = None,
    episodes: Int[Tensor, " E"] | None = None,
    on_step: Callable[[int, Proposal], None] | None = None,
) -> Episodes:
    """Run every task to the end of its budget.

    Args:
        policy: Decides the queries.
        tasks: The objectives; their device is where everything happens.
        family: Gives the GP prior, the noise of observations and the budget.
        seed: Of the random numbers inside the episodes, or a tensor (see `Noise.at`).
        budget: Evaluations per episode; the family's own if None.
        prior: GP hyperparameters, for all episodes or each; the family's own if None. Tasks that
            come with their own are run with those.
        episodes: Numbers by which episodes draw their random numbers; 0, 1, ... if None. An
            episode run alone under its number repeats what it did among others.
        on_step: Called after each step with the number of steps done and what was proposed.
    """
    optimum = tasks.optimum
    device, n = optimum.device, optimum.shape[0]
    budget = family.budget if budget is None else budget
    numbers = torch.arange(n, device=device) if episodes is None else episodes.to(device)
    own = tasks.prior if isinstance(tasks, TasksWithPrior) else None
    prior = own or prior or family.prior
    state = BOState.start(prior.to(device), episodes=n, budget=budget)
    values = []
    for step in range(budget):
        noise = Noise.at(seed, episodes=numbers, step=step)
        proposal = policy.propose(state, noise.stream("policy"))
        x = proposal.x
        value = tasks(x[:, None, :])[:, 0]
        error = noise.stream("observation").normal(1)[:, 0] if family.noise else 0.0
        state = state.observe(x, value + family.noise * error)
        values.append(value)
        if on_step is not None:
            on_step(step + 1, proposal)
    return Episodes(state.history.x, state.history.y, torch.stack(values, -1), optimum)
