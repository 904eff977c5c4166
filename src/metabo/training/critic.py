"""The value network V(t, T): the rewards to expect from a step on, whatever the task."""

import torch
from torch import Tensor, nn

from metabo.acquisition.perceptron import initialize, mlp
from metabo.shapes import Float, Int
from metabo.training.config import TrainConfig

_LEAST_REGRET = 1e-7


class Critic(nn.Module):
    """V(t, T), an MLP of the paper's size; V(t, T, R) if it is told the regret so far."""

    def __init__(self, config: TrainConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.is_told_regret = config.critic == "regret"
        self.network = mlp(3 if self.is_told_regret else 2, config.hidden, config.activation)
        initialize(self.network, config.init, generator)
        # Paper: raw t and T; in units of 30 steps where features are normalized too.
        self.unit = 30.0 if config.normalize else 1.0

    def forward(
        self, step: Int[Tensor, "*n"], budget: int, regret: Float[Tensor, "*n"]
    ) -> Float[Tensor, "*n"]:
        """The value of having done `step` of `budget` evaluations and come to a regret.

        Regret is known in training only, where the optimum is. A value that depends on the state
        but not on the choice to be judged leaves the policy's gradient unbiased and takes the luck
        of the task and of earlier steps out of it.
        """
        weight = next(self.parameters())
        inputs = torch.stack([step.to(weight), torch.full_like(step, budget).to(weight)], -1)
        inputs = inputs / self.unit
        if self.is_told_regret:
            # About [-1, 1], 0 before the first evaluation, which the step tells.
            told = 0.3 * regret.clamp_min(_LEAST_REGRET).log10().to(weight) + 1
            told = torch.where(step > 0, told, 0.0)
            inputs = torch.cat([inputs, told.unsqueeze(-1)], -1)
        return self.network(inputs)[..., 0]
