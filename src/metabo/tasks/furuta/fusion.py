"""One kernel instead of hundreds for a few steps of a simulation."""

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor

from metabo.tasks.furuta.mechanics import State

Step = Callable[..., tuple[State, Tensor, Tensor]]
Fused = Literal["never", "cuda", "always"]
"""Where steps are compiled: nowhere, on CUDA (by Triton), or on CPUs too (by a C++ compiler)."""


def fused_steps(
    where: Fused, step: Step, n_steps: int, like: Tensor, *, at_once: int = 1
) -> tuple[Step, int]:
    """What to call and how often, for so many steps on the device of a tensor.

    It is the step itself, or some of them compiled into one kernel. Several pay where a call takes
    longer than a step, which is so unless the step is long.
    """
    if not (where == "always" or (where == "cuda" and like.is_cuda)):
        return step, n_steps
    if n_steps % at_once:
        raise ValueError(f"{n_steps} steps cannot be taken {at_once} at a time.")
    return _compiled(step, at_once), n_steps // at_once


@lru_cache(maxsize=8)
def _compiled(step: Step, at_once: int) -> Step:
    """What torch makes of it, at the first call, in some 20 s."""

    def several(
        x: State, total: Tensor, steps: Tensor, *setting: object
    ) -> tuple[State, Tensor, Tensor]:
        for _ in range(at_once):
            x, total, steps = step(x, total, steps, *setting)
        return x, total, steps

    return torch.compile(several, dynamic=True, fullgraph=True)
