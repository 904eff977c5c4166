"""Linear quadratic regulators for many systems at once."""

import torch
from torch import Tensor

from metabo.shapes import Float

_DOUBLINGS = 30
"""The doubling reaches 2^30 time steps: far beyond what a regulator takes to settle."""


def lqr(
    drift: Float[Tensor, "E n n"],
    push: Float[Tensor, "E n m"],
    state_cost: Float[Tensor, "n n"],
    input_cost: Float[Tensor, "m m"],
) -> Float[Tensor, "E m n"]:
    """The gains K of u = -K x that minimize the sum of x'Qx + u'Ru for x <- A x + B u.

    P solves the discrete algebraic Riccati equation. The structured doubling algorithm takes its
    recursion 1, 2, 4, ... steps at a time, so a fixed number of doublings is exact to rounding.
    """
    identity = torch.eye(drift.shape[-1], dtype=drift.dtype, device=drift.device)
    a = drift
    g = push @ torch.linalg.solve(input_cost, push.mT)
    p = state_cost.expand_as(drift)
    for _ in range(_DOUBLINGS):
        inverse = torch.linalg.inv(identity + g @ p)
        step = a @ inverse
        p = p + a.mT @ p @ inverse @ a
        g = g + step @ g @ a.mT
        a = step @ a
    return torch.linalg.solve(input_cost + push.mT @ p @ push, push.mT @ p @ drift)
