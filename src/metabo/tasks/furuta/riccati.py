"""Linear quadratic regulators for a batch of systems."""

import torch
from torch import Tensor

from metabo.shapes import Float

_DOUBLINGS = 30
"""Number of doublings: 2^30 time steps are far more than a regulator takes to settle."""


def lqr(
    drift: Float[Tensor, "E n n"],
    push: Float[Tensor, "E n m"],
    state_cost: Float[Tensor, "n n"],
    input_cost: Float[Tensor, "m m"],
) -> Float[Tensor, "E m n"]:
    """Return the gains K of u = -K x that minimize the sum of x'Qx + u'Ru for x <- A x + B u.

    P solves the discrete algebraic Riccati equation. The structured doubling algorithm takes 1, 2,
    4, ... steps of its recursion at a time, so a fixed number of doublings is exact to rounding.
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
