"""Optimize a function of your own with two verbs: `propose` and `observe`.

python examples/own_loop.py
"""

import torch

from metabo import Float, Space
from metabo.acquisition import EI
from metabo.gp import Prior
from metabo.policies import GradientRefine, Maximize
from metabo.seeding import Noise
from metabo.state import BOState

SPACE = Space({"rate": Float(1e-4, 1e-1, log=True), "momentum": Float(0.0, 0.99)})


def accuracy(rate: float, momentum: float) -> float:
    """Stands for an experiment of yours; larger is better."""
    return 1 - (torch.tensor(rate).log10().item() + 2.2) ** 2 / 9 - (momentum - 0.8) ** 2


def main() -> None:
    """Run twenty evaluations."""
    prior = Prior.of([0.3, 0.3], signal_variance=0.1, noise_variance=1e-6, mean="observed")
    policy = Maximize(EI(), GradientRefine.sized(SPACE.dim))
    state = BOState.start(prior, episodes=1, budget=20)
    for step in range(20):
        noise = Noise.at(0, episodes=torch.tensor([0]), step=step)
        x = policy.propose(state, noise).x
        parameters = SPACE.decode(x[0])
        y = accuracy(**parameters)  # type: ignore[arg-type]
        print(f"{step + 1:2d}  {parameters}  ->  {y:.6f}")
        state = state.observe(x, torch.tensor([y], dtype=torch.float64))
    print(f"best: {state.best.item():.6f}")


if __name__ == "__main__":
    main()
