"""The value network V(t, T): the expected rewards from a step on, independent of the task."""

import torch
from torch import Tensor, nn

from metabo.acquisition.perceptron import initialize, mlp
from metabo.shapes import Float, Int
from metabo.training.config import TrainConfig

_LEAST_REGRET = 1e-7
"""Regret below which the critic sees no difference."""


class Critic(nn.Module):
    """Value network V(t, T), an MLP of the paper's size; V(t, T, R) if it also sees the regret."""

    def __init__(self, config: TrainConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.is_told_regret = config.critic == "regret"
        self.network = mlp(3 if self.is_told_regret else 2, config.hidden, config.activation)
        initialize(self.network, config.init, generator)
        # Paper: raw t and T. If features are normalized, so are these, in units of 30 steps.
        self.unit = 30.0 if config.normalize else 1.0

    def forward(
        self, step: Int[Tensor, "*n"], budget: int, regret: Float[Tensor, "*n"]
    ) -> Float[Tensor, "*n"]:
        """Return the value of a state after `step` of `budget` evaluations with this regret.

        Regret is known only in training, where the optimum is known. A value that depends on the
        state but not on the action keeps the policy gradient unbiased and removes the variance due
        to the task and to earlier steps.
        """
        weight = next(self.parameters())
        inputs = torch.stack([step.to(weight), torch.full_like(step, budget).to(weight)], -1)
        inputs = inputs / self.unit
        if self.is_told_regret:
            # Scaled to about [-1, 1]; 0 before the first evaluation, which the step indicates.
            told = 0.3 * regret.clamp_min(_LEAST_REGRET).log10().to(weight) + 1
            told = torch.where(step > 0, told, 0.0)
            inputs = torch.cat([inputs, told.unsqueeze(-1)], -1)
        return self.network(inputs)[..., 0]
