"""From a policy and tasks to a batch that PPO can learn from: the BO loop, watched."""

import torch
from torch import Tensor

from metabo.acquisition import NeuralAF
from metabo.gp import Prior
from metabo.loop import Episodes, rollout
from metabo.policies import HierarchicalGrid, Proposal, Sample, Scatter, Searcher
from metabo.shapes import Int
from metabo.tasks import TaskFamily, Tasks
from metabo.training.config import CLOUDS, TrainConfig
from metabo.training.critic import Critic
from metabo.training.ppo import Batch, advantages
from metabo.training.rewards import rewards


def training_searches(config: TrainConfig, dim: int) -> tuple[Searcher, ...]:
    """The candidate sets that iterations take in turn; validation takes the first."""
    return tuple(_search(name, config.n_global, dim) for name in config.candidates)


def _search(name: str, n_global: int | None, dim: int) -> Searcher:
    if name == "grid":
        n = n_global or HierarchicalGrid.paper(dim).n_global
        return HierarchicalGrid(n, n)
    # On a line the grid itself must resolve a peak; in more dimensions the clouds do.
    n = n_global or (600 if dim == 1 else 150 * dim)
    return Scatter(n_global=n, decades=CLOUDS[name])


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
    """Roll the sampled policy out on the tasks."""
    features: list[Tensor] = []
    index: list[Tensor] = []
    log_old: list[Tensor] = []

    def record(_: int, proposal: Proposal) -> None:
        assert proposal.candidates is not None
        assert proposal.index is not None
        assert proposal.log_probability is not None
        features.append(af.features(proposal.candidates.belief))
        index.append(proposal.index)
        log_old.append(proposal.log_probability)

    policy = Sample(af, search)
    episodes = rollout(
        policy, tasks, family, seed=seed, budget=budget, prior=prior, on_step=record
    )
    earned = rewards(episodes.regret, config.reward, config.reward_floor).float()
    step = torch.arange(budget, device=earned.device).expand(len(earned), -1)
    values = critic(step, budget)
    advantage = advantages(earned, values, config.gamma, config.gae_lambda)
    padded, exists = _pad(features)
    batch = Batch(
        padded,
        exists,
        torch.stack(index, 1).flatten(),
        torch.stack(log_old, 1).flatten().float(),
        step.flatten(),
        budget,
        advantage.flatten(),
        (advantage + values).flatten(),
    )
    return batch, episodes


def _pad(parts: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Steps of different numbers of candidates as one tensor `S N F`, and where it is real."""
    most = max(part.shape[1] for part in parts)
    padded = [torch.nn.functional.pad(p, (0, 0, 0, most - p.shape[1])) for p in parts]
    exists = [
        (torch.arange(most, device=p.device) < p.shape[1]).expand(p.shape[0], -1) for p in parts
    ]
    return torch.stack(padded, 1).flatten(0, 1), torch.stack(exists, 1).flatten(0, 1)
