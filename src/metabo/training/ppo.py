"""Proximal policy optimization (Schulman et al., 2017) of a neural AF, in the paper's order.

| symbol          | meaning                                                   | shape   |
| --------------- | --------------------------------------------------------- | ------- |
| `features`      | what the AF saw of the candidates of each step            | S N F   |
| `index`         | which candidate was chosen                                | S       |
| `log_old`       | log-probability of that choice at the time                | S       |
| `regret`        | simple regret before the step                             | S       |
| `advantage`     | how much better it went than expected (GAE)               | S       |
| `target`        | TD(lambda) return, what the critic should have said       | S       |

S are the steps of all episodes of an iteration, flattened. The number of candidates differs
between steps (clouds appear after the first), so batches are padded with logits of minus infinity.
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
    """The steps of one iteration."""

    features: Float[Tensor, "S N F"]
    exists: Bool[Tensor, "S N"]
    """Which candidates could be queried, the others being padding or ruled out."""
    index: Int[Tensor, " S"]
    log_old: Float[Tensor, " S"]
    step: Int[Tensor, " S"]
    regret: Float[Tensor, " S"]
    """Before the step; 0 before the first."""
    budget: int
    advantage: Float[Tensor, " S"]
    target: Float[Tensor, " S"]


LOSS_PARTS = ("policy", "value", "entropy", "clipped")
"""What `loss` reports; the last is the share of choices whose probability left the clip."""


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


def against_group(advantage: Float[Tensor, "E T"], size: int) -> Float[Tensor, "E T"]:
    """The advantages less the mean over episodes on the same task, which follow one another.

    Paper: V(t, T) knows nothing of the task, so that most of an advantage is how easy the task
    was. What others reached on it at the same step is a better expectation.
    """
    if size == 1:
        return advantage
    groups = advantage.unflatten(0, (-1, size))
    return (groups - groups.mean(1, keepdim=True)).flatten(0, 1)


def log_probabilities(
    af: NeuralAF, features: Float[Tensor, "S N F"], exists: Bool[Tensor, "S N"]
) -> Float[Tensor, "S N"]:
    """Log-probabilities of querying each candidate: Cat[alpha(xi_1), ..., alpha(xi_N)]."""
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
    """The clipped objective with value and entropy terms on some rows, and what it is made of.

    All are means over the rows, so those of a minibatch are the means of its parts'. The `bonus`
    is what entropy counts, the entropy coefficient of the iteration.
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
    """Several epochs of minibatch steps on one iteration's batch; give the parts of the loss.

    Each row of `order` is a permutation of the steps, cut into minibatches.
    """
    seen = []
    for epoch in order:
        for rows in epoch.tensor_split(config.minibatches):
            optimizer.zero_grad(set_to_none=True)
            seen.append(_add_gradients(af, critic, _normalized(batch, rows), rows, config, bonus))
            if config.max_gradient_norm is not None:
                # Each on its own: the critic's gradient is many times the policy's, which would
                # be cut down by whatever the critic's happens to be.
                for network in (af, critic):
                    nn.utils.clip_grad_norm_(network.parameters(), config.max_gradient_norm)
            optimizer.step()
    return torch.stack(seen).mean(0)


def _normalized(batch: Batch, rows: Tensor) -> Batch:
    """The batch with the advantages of a minibatch brought to mean 0 and deviation 1."""
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
    """Add up the gradients of a minibatch, in parts of a size that the device likes."""
    size = af.rows_at_once(rows.device, batch.features.shape[1])
    seen = []
    for part in rows.split(size):
        share = len(part) / len(rows)
        total, parts = loss(af, critic, batch, part, config, bonus)
        (share * total).backward()
        seen.append(share * parts)
    return torch.stack(seen).sum(0)
