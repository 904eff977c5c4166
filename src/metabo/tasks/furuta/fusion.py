"""One kernel instead of dozens for a step of a simulation."""

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor

from metabo.tasks.furuta.mechanics import State

Step = Callable[..., tuple[State, Tensor, Tensor]]
Fused = Literal["never", "cuda", "always"]
"""Where steps are compiled: nowhere, on CUDA (by Triton), or on CPUs too (by a C++ compiler)."""


def fused_where(where: Fused, step: Step, like: Tensor) -> Step:
    """The step itself, or compiled, for tensors on the device of another."""
    is_fused = where == "always" or (where == "cuda" and like.is_cuda)
    return _compiled(step) if is_fused else step


@lru_cache(maxsize=8)
def _compiled(step: Step) -> Step:
    """What torch makes of it, at the first call, in some 20 s."""
    return torch.compile(step, dynamic=True, fullgraph=True)
