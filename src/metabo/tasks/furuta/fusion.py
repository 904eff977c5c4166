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


def strides(where: Fused, step: Step, like: Tensor, *, at_once: int = 1) -> tuple[Step, int]:
    """The step itself or, for tensors on the device of another, some compiled; and how many.

    A kernel of several steps pays where a call takes longer than a step, which is so unless the
    step is long.
    """
    is_fused = where == "always" or (where == "cuda" and like.is_cuda)
    return (_compiled(step, at_once), at_once) if is_fused else (step, 1)


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
