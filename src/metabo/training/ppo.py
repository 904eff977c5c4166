"""Proximal policy optimization (Schulman et al., 2017) of a neural AF, in the paper's order.

| symbol          | meaning                                                   | shape   |
| --------------- | --------------------------------------------------------- | ------- |
| `features`      | what the AF saw of the candidates of each step            | S N F   |
| `index`         | which candidate was queried                               | S       |
| `log_old`       | log-probability of that choice at the time                | S       |
| `advantage`     | how much better it went than expected (GAE)               | S       |
| `target`        | TD(lambda) return, what the critic should have said       | S       |

S are the steps of all episodes of an iteration, flattened. The number of candidates differs
between steps (clouds appear after the first), so batches are padded with logits of minus infinity.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from metabo.acquisition import NeuralAF
from metabo.shapes import Bool, Float, Int
from metabo.training.config import TrainConfig
from metabo.training.critic import Critic


@dataclass(frozen=True)
class Batch:
    """The steps of one iteration."""

    features: Float[Tensor, "S N F"]
    exists: Bool[Tensor, "S N"]
    """Which candidates are real, the others being padding."""
    index: Int[Tensor, " S"]
    log_old: Float[Tensor, " S"]
    step: Int[Tensor, " S"]
    budget: int
    advantage: Float[Tensor, " S"]
    target: Float[Tensor, " S"]


@dataclass(frozen=True)
class Losses:
    """What an update minimized, averaged over its minibatches."""

    policy: float
    value: float
    entropy: float
    clipped: float
    """Share of choices whose probability had moved beyond the clip."""


def advantages(
    rewards: Float[Tensor, "E T"], values: Float[Tensor, "E T"], gamma: float, gae_lambda: float
) -> Float[Tensor, "E T"]:
    """Generalized advantage estimation over whole episodes; nothing follows the last step."""
    following = torch.cat([values[:, 1:], torch.zeros_like(values[:, :1])], 1)
    delta = rewards + gamma * following - values
    result = torch.zeros_like(rewards)
    running = torch.zeros_like(rewards[:, 0])
    for t in reversed(range(rewards.shape[1])):
        running = delta[:, t] + gamma * gae_lambda * running
        result[:, t] = running
    return result


def log_probabilities(
    af: NeuralAF, features: Float[Tensor, "S N F"], exists: Bool[Tensor, "S N"]
) -> Float[Tensor, "S N"]:
    """Log-probabilities of querying each candidate: Cat[alpha(xi_1), ..., alpha(xi_N)]."""
    logits = af.score(features).float().masked_fill(~exists, -torch.inf)
    return logits.log_softmax(-1)


def loss(
    af: NeuralAF, critic: Critic, batch: Batch, rows: Int[Tensor, " s"], config: TrainConfig
) -> tuple[Tensor, Tensor]:
    """The clipped objective with value and entropy terms on some rows, and its four parts."""
    log_all = log_probabilities(af, batch.features[rows], batch.exists[rows])
    log_new = log_all.gather(1, batch.index[rows][:, None])[:, 0]
    advantage = batch.advantage[rows]
    advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)

    ratio = (log_new - batch.log_old[rows]).exp()
    bounded = ratio.clamp(1 - config.clip, 1 + config.clip)
    policy = -torch.minimum(ratio * advantage, bounded * advantage).mean()
    value = (critic(batch.step[rows], batch.budget) - batch.target[rows]).square().mean()
    entropy = -(log_all.exp() * log_all.masked_fill(~batch.exists[rows], 0.0)).sum(-1).mean()
    clipped = ((ratio - 1).abs() > config.clip).float().mean()
    total = policy + config.value_coefficient * value - config.entropy_coefficient * entropy
    return total, torch.stack([policy, value, entropy, clipped]).detach()


def update(
    af: NeuralAF,
    critic: Critic,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    config: TrainConfig,
    generator: torch.Generator,
) -> Losses:
    """Several epochs of minibatch steps on one iteration's batch."""
    n, device = len(batch.index), batch.index.device
    parts = []
    parameters = [*af.parameters(), *critic.parameters()]
    for _ in range(config.epochs):
        order = torch.randperm(n, generator=generator).to(device)
        for rows in order.tensor_split(config.minibatches):
            total, seen = loss(af, critic, batch, rows, config)
            optimizer.zero_grad(set_to_none=True)
            total.backward()
            if config.max_gradient_norm is not None:
                nn.utils.clip_grad_norm_(parameters, config.max_gradient_norm)
            optimizer.step()
            parts.append(seen)
    return Losses(*torch.stack(parts).mean(0).tolist())
