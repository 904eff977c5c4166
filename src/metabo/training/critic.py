"""The value network V(t, T): the rewards to expect from a step on, whatever the task."""

import torch
from torch import Tensor, nn

from metabo.acquisition.perceptron import initialize, mlp
from metabo.shapes import Float, Int
from metabo.training.config import TrainConfig


class Critic(nn.Module):
    """V(t, T), an MLP of the paper's size."""

    def __init__(self, config: TrainConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.network = mlp(2, config.hidden, config.activation)
        initialize(self.network, config.init, generator)
        # Paper: raw t and T; in units of 30 steps where features are normalized too.
        self.unit = 30.0 if config.normalize else 1.0

    def forward(self, step: Int[Tensor, "*n"], budget: int) -> Float[Tensor, "*n"]:
        """The value of having done `step` of `budget` evaluations."""
        weight = next(self.parameters())
        inputs = torch.stack([step.to(weight), torch.full_like(step, budget).to(weight)], -1)
        return self.network(inputs / self.unit)[..., 0]
