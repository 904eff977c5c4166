"""Proximal policy optimization (Schulman et al., 2017) of a neural AF, in the paper's order.

| symbol          | meaning                                                   | shape   |
| --------------- | --------------------------------------------------------- | ------- |
| `features`      | the AF's inputs for the candidates of each step           | S N F   |
| `index`         | index of the chosen candidate                             | S       |
| `log_old`       | log-probability of that choice at the time                | S       |
| `regret`        | simple regret before the step                             | S       |
| `advantage`     | generalized advantage estimate (GAE)                      | S       |
| `target`        | TD(lambda) return, the target of the critic               | S       |

S is the number of steps of all episodes of an iteration, flattened. The number of candidates
differs between steps (there are no clouds before the first observation), so batches are padded
with logits of minus infinity.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from metabo.acquisition import NeuralAF
from metabo.shapes import Bool, Float, Int
from metabo.training.config import TrainConfig
from metabo.training.critic import Critic


@dataclass(frozen=True)
class Batch:
    """All steps of one iteration."""

    features: Float[Tensor, "S N F"]
    """Inputs of the AF for every candidate of each step."""
    exists: Bool[Tensor, "S N"]
    """Whether each candidate could be queried; the others are padding or excluded."""
    index: Int[Tensor, " S"]
    """Index of the chosen candidate."""
    log_old: Float[Tensor, " S"]
    """Log-probability of the choice when it was made."""
    step: Int[Tensor, " S"]
    """Number of evaluations before the choice."""
    regret: Float[Tensor, " S"]
    """Simple regret before the choice; 0 before the first evaluation."""
    budget: int
    """Number of evaluations per episode."""
    advantage: Float[Tensor, " S"]
    """Generalized advantage estimate of the choice."""
    target: Float[Tensor, " S"]
    """TD(lambda) return, the target of the critic."""


LOSS_PARTS = ("policy", "value", "entropy", "clipped")
"""Names of what `loss` reports; `clipped` is the share of probability ratios that were clipped."""


def advantages(
    rewards: Float[Tensor, "E T"], values: Float[Tensor, "E T"], gamma: float, gae_lambda: float
) -> Float[Tensor, "E T"]:
    """Compute generalized advantage estimates over complete episodes."""
    following = torch.cat([values[:, 1:], torch.zeros_like(values[:, :1])], 1)
    delta = rewards + gamma * following - values
    result = torch.zeros_like(rewards)
    running = torch.zeros_like(rewards[:, 0])
    for t in reversed(range(rewards.shape[1])):
        running = delta[:, t] + gamma * gae_lambda * running
        result[:, t] = running
    return result


def against_group(advantage: Float[Tensor, "E T"], size: int) -> Float[Tensor, "E T"]:
    """Subtract the mean advantage over the `size` consecutive episodes on the same task.

    Paper: V(t, T) does not depend on the task, so most of an advantage reflects how easy the task
    was. The mean of other episodes on it at the same step is a better baseline.
    """
    if size == 1:
        return advantage
    groups = advantage.unflatten(0, (-1, size))
    return (groups - groups.mean(1, keepdim=True)).flatten(0, 1)


def log_probabilities(
    af: NeuralAF, features: Float[Tensor, "S N F"], exists: Bool[Tensor, "S N"]
) -> Float[Tensor, "S N"]:
    """Return the log-probability of each candidate under Cat[alpha(xi_1), ..., alpha(xi_N)]."""
    logits = af.score(features).float().masked_fill(~exists, -torch.inf)
    return logits.log_softmax(-1)


def loss(
    af: NeuralAF,
    critic: Critic,
    batch: Batch,
    rows: Int[Tensor, " s"],
    config: TrainConfig,
    bonus: float | Float[Tensor, ""],
) -> tuple[Tensor, Float[Tensor, "4"]]:
    """Return the clipped objective with value and entropy terms on some rows, and its parts.

    All are means over the rows, so the loss of a minibatch is the weighted mean of its chunks.

    Args:
        af: Policy network.
        critic: Value network.
        batch: All steps of the iteration.
        rows: Indices of the steps to use.
        config: Settings of the training.
        bonus: Entropy coefficient of the iteration.

    Returns:
        The loss, and its `LOSS_PARTS` without gradients.
    """
    log_all = log_probabilities(af, batch.features[rows], batch.exists[rows])
    log_new = log_all.gather(1, batch.index[rows][:, None])[:, 0]
    advantage = batch.advantage[rows]

    ratio = (log_new - batch.log_old[rows]).exp()
    bounded = ratio.clamp(1 - config.clip, 1 + config.clip)
    policy = -torch.minimum(ratio * advantage, bounded * advantage).mean()
    expected = critic(batch.step[rows], batch.budget, batch.regret[rows])
    value = (expected - batch.target[rows]).square().mean()
    entropy = -(log_all.exp() * log_all.masked_fill(~batch.exists[rows], 0.0)).sum(-1).mean()
    clipped = ((ratio - 1).abs() > config.clip).float().mean()
    total = policy + config.value_coefficient * value - bonus * entropy
    return total, torch.stack([policy, value, entropy, clipped]).detach()


def update(
    af: NeuralAF,
    critic: Critic,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    order: Int[Tensor, "epochs S"],
    config: TrainConfig,
    bonus: float | Float[Tensor, ""],
) -> Float[Tensor, "4"]:
    """Take several epochs of minibatch steps on one iteration's batch.

    Args:
        af: Policy network.
        critic: Value network.
        optimizer: Updates both networks.
        batch: All steps of the iteration.
        order: One permutation of the steps per epoch, which is split into minibatches.
        config: Settings of the training.
        bonus: Entropy coefficient of the iteration.

    Returns:
        The mean `LOSS_PARTS` over all minibatches.
    """
    seen = []
    for epoch in order:
        for rows in epoch.tensor_split(config.minibatches):
            optimizer.zero_grad(set_to_none=True)
            seen.append(_add_gradients(af, critic, _normalized(batch, rows), rows, config, bonus))
            if config.max_gradient_norm is not None:
                # Clip each network separately: the critic's gradient is many times larger, and
                # clipping both together would scale the policy's by it.
                for network in (af, critic):
                    nn.utils.clip_grad_norm_(network.parameters(), config.max_gradient_norm)
            optimizer.step()
    return torch.stack(seen).mean(0)


def _normalized(batch: Batch, rows: Tensor) -> Batch:
    """Normalize the advantages of a minibatch to mean 0 and standard deviation 1."""
    advantage = batch.advantage[rows]
    advantage = (batch.advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    return replace(batch, advantage=advantage)


def _add_gradients(
    af: NeuralAF,
    critic: Critic,
    batch: Batch,
    rows: Tensor,
    config: TrainConfig,
    bonus: float | Tensor,
) -> Tensor:
    """Accumulate the gradients of a minibatch, in chunks of a size that suits the device."""
    size = af.rows_at_once(rows.device, batch.features.shape[1])
    seen = []
    for part in rows.split(size):
        share = len(part) / len(rows)
        total, parts = loss(af, critic, batch, part, config, bonus)
        (share * total).backward()
        seen.append(share * parts)
    return torch.stack(seen).sum(0)
