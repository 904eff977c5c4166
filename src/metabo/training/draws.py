"""What changes from one iteration of training to the next: its random draws and its schedule.

Each draw is a function of the seed and the number of the iteration, so that a resumed run repeats
those of an uninterrupted one.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from metabo.seeding import episodes_key, generator
from metabo.shapes import Int
from metabo.tasks import TaskFamily, Tasks
from metabo.training.config import TrainConfig


def training_tasks(family: TaskFamily, config: TrainConfig, number: int) -> Tasks:
    """Draw the tasks of an iteration, one per episode; the episodes of a group share a task."""
    source = generator(config.seed, f"training tasks/{number}")
    drawn = family.sample(config.episodes // config.group, source)
    if config.group > 1:
        drawn = drawn.take(torch.arange(config.episodes) // config.group)
    return drawn


def draw_budget(budgets: Sequence[int], seed: int, number: int) -> int:
    """Draw the number of evaluations per episode of an iteration."""
    source = generator(seed, f"budget/{number}")
    return budgets[int(torch.randint(len(budgets), (), generator=source))]


def minibatch_order(config: TrainConfig, number: int, steps: int) -> Int[Tensor, "epochs S"]:
    """Draw the order in which each epoch of an iteration visits the steps of the rollout."""
    source = generator(config.seed, f"minibatches/{number}")
    orders = [torch.randperm(steps, generator=source) for _ in range(config.epochs)]
    return torch.stack(orders).to(config.device)


def random_key(seed: int, number: int | None = None) -> Int[Tensor, ""]:
    """Return the random key of the episodes of an iteration, or of validation if None."""
    return torch.tensor(episodes_key(seed if number is None else seed * 1_000_003 + number))


def scheduled(first: float, last: float | None, passed: float) -> float:
    """Interpolate between two values of a setting by a cosine schedule.

    Args:
        first: Value at the start of training.
        last: Value at the end; None if the setting does not change.
        passed: Share of the iterations that have passed, from 0 to 1.

    Returns:
        The value to use now.
    """
    if last is None:
        return first
    return last + 0.5 * (1 + math.cos(math.pi * passed)) * (first - last)
