"""One kernel instead of dozens for a step of a simulation."""

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from metabo.tasks.furuta.mechanics import State

Step = Callable[..., tuple[State, Tensor, Tensor]]


@lru_cache(maxsize=8)
def fused(function: Step) -> Step:
    """A function of tensors compiled by torch: Triton on CUDA, C++ on a CPU, some 20 s once."""
    return torch.compile(function, dynamic=True, fullgraph=True)
