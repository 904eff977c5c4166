"""Rollouts for training: the BO loop, recorded as a batch that PPO can learn from."""

import torch
from torch import Tensor

from metabo.acquisition import NeuralAF
from metabo.domain import Finite
from metabo.gp import Prior
from metabo.loop import Episodes, rollout
from metabo.policies import (
    Enumerate,
    HierarchicalGrid,
    Proposal,
    Sample,
    Scatter,
    Searcher,
    informed,
)
from metabo.seeding import generator
from metabo.shapes import Int
from metabo.sources import learned_prior
from metabo.tasks import TaskFamily, Tasks
from metabo.training.config import CLOUDS, TrainConfig
from metabo.training.critic import Critic
from metabo.training.ppo import Batch, advantages, against_group
from metabo.training.rewards import rewards


def training_searches(config: TrainConfig, family: TaskFamily) -> tuple[Searcher, ...]:
    """Return the candidate sets that iterations use in turn; validation averages over them."""
    if isinstance(family.domain, Finite):
        return (Enumerate(family.domain, repeats=family.noise > 0),)
    return tuple(_search(name, config.n_global, family.domain.dim) for name in config.candidates)


def _search(name: str, n_global: int | None, dim: int) -> Searcher:
    if name == "grid":
        n = n_global or HierarchicalGrid.paper(dim).n_global
        return HierarchicalGrid(n, n)
    # In one dimension the grid itself must resolve a peak; in more dimensions the clouds do.
    n = n_global or (600 if dim == 1 else 150 * dim)
    return Scatter(n_global=n, decades=CLOUDS[name])


def starting_prior(config: TrainConfig, family: TaskFamily) -> Prior:
    """Return the GP prior of a run, with a learned part if the configuration asks for it."""
    return learned_prior(family, config.sources) if config.prior == "learned" else family.prior


def regret_floor(config: TrainConfig, family: TaskFamily) -> float:
    """Return the smallest regret that the reward distinguishes."""
    return family.regret_floor if config.reward_floor is None else config.reward_floor


def validation_tasks(family: TaskFamily, config: TrainConfig) -> Tasks:
    """Return the validation tasks, or some training tasks if the family has no others."""
    source = family.validation() or family
    n = config.validation_tasks
    n = n if source.n_tasks is None else min(n, source.n_tasks)
    return source.sample(n, generator(config.seed, "validation tasks"))


@torch.no_grad()
def collect(
    af: NeuralAF,
    critic: Critic,
    tasks: Tasks,
    family: TaskFamily,
    config: TrainConfig,
    search: Searcher,
    *,
    budget: int,
    seed: int | Int[Tensor, ""],
    prior: Prior | None = None,
) -> tuple[Batch, Episodes]:
    """Roll out the sampled policy on the tasks, and return the batch and the episodes."""
    features: list[Tensor] = []
    allowed: list[Tensor] = []
    index: list[Tensor] = []
    log_old: list[Tensor] = []

    def record(_: int, proposal: Proposal) -> None:
        assert proposal.candidates is not None
        assert proposal.index is not None
        assert proposal.log_probability is not None
        features.append(af.features(proposal.candidates.belief))
        allowed.append(proposal.candidates.score > -torch.inf)
        index.append(proposal.index)
        log_old.append(proposal.log_probability)

    policy = informed(Sample(af, search), None if prior is None else prior.learned)
    episodes = rollout(
        policy, tasks, family, seed=seed, budget=budget, prior=prior, on_step=record
    )
    earned = rewards(episodes.regret, config.reward, regret_floor(config, family)).float()
    step = torch.arange(budget, device=earned.device).expand(len(earned), -1)
    before = torch.nn.functional.pad(episodes.regret, (1, -1)).float()
    values = critic(step, budget, before)
    gained = advantages(earned, values, config.gamma, config.gae_lambda)
    advantage = against_group(gained, config.group)
    most = max(part.shape[1] for part in features)
    batch = Batch(
        torch.stack([_padded(part, most) for part in features], 1).flatten(0, 1),
        torch.stack([_padded(part[..., None], most) for part in allowed], 1).flatten(0, 1)[..., 0],
        torch.stack(index, 1).flatten(),
        torch.stack(log_old, 1).flatten().float(),
        step.flatten(),
        before.flatten(),
        budget,
        advantage.flatten(),
        (gained + values).flatten(),
    )
    return batch, episodes


def _padded(part: Tensor, most: int) -> Tensor:
    """Pad the candidates of a step to `most`, with zeros or False."""
    return torch.nn.functional.pad(part, (0, 0, 0, most - part.shape[1]))
