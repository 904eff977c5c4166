"""Compilation of a few steps of a simulation into one kernel instead of hundreds."""

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor

from metabo.tasks.furuta.mechanics import State

Step = Callable[..., tuple[State, Tensor, Tensor]]
Fused = Literal["never", "cuda", "always"]
"""Devices on which steps are compiled: none, CUDA (by Triton), or CPUs too (by a C++ compiler)."""


def fused_steps(
    where: Fused, step: Step, n_steps: int, like: Tensor, *, at_once: int = 1
) -> tuple[Step, int]:
    """Return the function to call for `n_steps` steps on the device of a tensor, and the calls.

    The function is the step itself, or `at_once` steps compiled into one kernel. Several steps at
    once pay if a call takes longer than a step, that is, unless the step is long.
    """
    if not (where == "always" or (where == "cuda" and like.is_cuda)):
        return step, n_steps
    if n_steps % at_once:
        raise ValueError(f"{n_steps} steps cannot be taken {at_once} at a time.")
    return _compiled(step, at_once), n_steps // at_once


@lru_cache(maxsize=8)
def _compiled(step: Step, at_once: int) -> Step:
    """Return `at_once` steps as one compiled function; torch compiles it in about 20 s."""

    def several(
        x: State, total: Tensor, steps: Tensor, *setting: object
    ) -> tuple[State, Tensor, Tensor]:
        for _ in range(at_once):
            x, total, steps = step(x, total, steps, *setting)
        return x, total, steps

    return torch.compile(several, dynamic=True, fullgraph=True)
