"""The BO loop: E episodes in lockstep."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metabo.gp import Prior
from metabo.metrics import simple_regret
from metabo.policies import Informed, Policy, Proposal
from metabo.seeding import Noise
from metabo.shapes import Float, Int
from metabo.state import BOState
from metabo.tasks import TaskFamily, Tasks, TasksWithPrior


@dataclass(frozen=True)
class Episodes:
    """The record of a batch of finished runs."""

    queries: Float[Tensor, "E T D"]
    """Points queried at each step, in the unit cube."""
    observed: Float[Tensor, "E T"]
    """Observed values, noise included."""
    values: Float[Tensor, "E T"]
    """Noise-free values at the queries."""
    optimum: Float[Tensor, " E"]
    """Maximum of each task."""

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
        tasks: The objectives; everything is computed on their device.
        family: Provides the GP prior, the observation noise and the budget.
        seed: Random seed of the episodes, or a tensor (see `Noise.at`).
        budget: Evaluations per episode; the family's own if None.
        prior: GP hyperparameters, shared by all episodes or one row each; the family's own if
            None. Tasks with their own prior always use that.
        episodes: Number of each episode, which determines its random numbers; 0, 1, ... if None.
            An episode run alone under its number repeats what it did in a batch.
        on_step: Called after each step with the number of steps done and the proposal.

    Returns:
        The queries and values of every episode; `.regret` is the simple regret after each step.

    Examples:
        >>> from metabo import family
        >>> from metabo.policies import classical, searcher
        >>> from metabo.seeding import generator
        >>> branin = family("branin")
        >>> tasks = branin.sample(2, generator(0, "test tasks"))
        >>> policy = classical("random", branin.domain, searcher("sobol", branin.domain))
        >>> rollout(policy, tasks, branin, seed=0, budget=5).regret.shape
        torch.Size([2, 5])
    """
    optimum = tasks.optimum
    device, n = optimum.device, optimum.shape[0]
    budget = family.budget if budget is None else budget
    numbers = torch.arange(n, device=device) if episodes is None else episodes.to(device)
    own = tasks.prior if isinstance(tasks, TasksWithPrior) else None
    prior = own or prior or family.prior
    if isinstance(policy, Informed):
        prior = replace(prior, learned=policy.part)
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
