"""Stationary correlation functions with one lengthscale per dimension (ARD).

Notation: r is the Euclidean distance of two points after division by the lengthscales.
All three are 1 at r = 0 and differentiable there; gradients never become NaN at coinciding points.
"""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from metabo.shapes import Float

_FEW = 1024
"""Number of pairs up to which distances are computed in the fewest operations.

With more pairs, memory decides. Pairs are counted per episode, not per batch, because the numbers
of an episode must not depend on how many episodes run beside it.
"""

KernelName = Literal["rbf", "matern52", "matern32"]
"""Name of a correlation function."""


def rbf(r2: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """Squared exponential correlation, exp(-r^2 / 2)."""
    return (-0.5 * r2).exp()


def matern52(r2: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """Matern-5/2 correlation, (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)."""
    a = math.sqrt(5) * _root(r2)
    return (1 + a + a.square() / 3) * (-a).exp()


def matern32(r2: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """Matern-3/2 correlation, (1 + sqrt(3) r) exp(-sqrt(3) r)."""
    a = math.sqrt(3) * _root(r2)
    return (1 + a) * (-a).exp()


KERNELS: dict[KernelName, Callable[[Tensor], Tensor]] = {
    "rbf": rbf,
    "matern52": matern52,
    "matern32": matern32,
}
"""Correlation functions by name, as functions of r^2."""


def _rbf_slope(_: Tensor, k: Tensor) -> Tensor:
    return -0.5 * k


def _matern52_slope(r2: Tensor, _: Tensor) -> Tensor:
    a = math.sqrt(5) * r2.sqrt()
    return (-5 / 6) * (1 + a) * (-a).exp()


def _matern32_slope(r2: Tensor, _: Tensor) -> Tensor:
    return -1.5 * (-math.sqrt(3) * r2.sqrt()).exp()


SLOPES: dict[KernelName, Callable[[Tensor, Tensor], Tensor]] = {
    "rbf": _rbf_slope,
    "matern52": _matern52_slope,
    "matern32": _matern32_slope,
}
"""Derivatives of the kernels with respect to r^2, as functions of r^2 and the kernel's value."""


def rbf_with_slope(r2: Float[Tensor, "*n"]) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n"]]:
    """Return the RBF kernel and its derivative in r^2, cheaper than computing both separately."""
    k = rbf(r2)
    return k, -0.5 * k


def matern52_with_slope(
    r2: Float[Tensor, "*n"],
) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n"]]:
    """Return the Matern-5/2 kernel and its derivative with respect to r^2."""
    a = (5 * r2).sqrt()
    decay = (-a).exp()
    linear = (1 + a) * decay
    return torch.addcmul(linear, r2, decay, value=5 / 3), (-5 / 6) * linear


def matern32_with_slope(
    r2: Float[Tensor, "*n"],
) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n"]]:
    """Return the Matern-3/2 kernel and its derivative with respect to r^2."""
    a = (3 * r2).sqrt()
    decay = (-a).exp()
    return (1 + a) * decay, -1.5 * decay


WITH_SLOPES: dict[KernelName, Callable[[Tensor], tuple[Tensor, Tensor]]] = {
    "rbf": rbf_with_slope,
    "matern52": matern52_with_slope,
    "matern32": matern32_with_slope,
}
"""Functions that compute a kernel and its derivative with respect to r^2 together."""


def correlation(
    kernel: KernelName,
    a: Float[Tensor, "*E P D"],
    b: Float[Tensor, "*E N D"],
    lengthscale: Float[Tensor, "*#E D"],
) -> Float[Tensor, "*E P N"]:
    """Return the correlations between every point of `a` and every point of `b`."""
    scale = lengthscale.unsqueeze(-2)
    return KERNELS[kernel](_by_columns(a / scale, b / scale))


def square_distance(
    a: Float[Tensor, "*E P D"], b: Float[Tensor, "*E N D"]
) -> Float[Tensor, "*E P N"]:
    """Return r^2 between every point of `a` and of `b`, both in units of lengthscales."""
    if a.shape[-2] * b.shape[-2] > _FEW:
        return _by_columns(a, b)
    return (a.unsqueeze(-2) - b.unsqueeze(-3)).square().sum(-1)


def _by_columns(a: Float[Tensor, "*E P D"], b: Float[Tensor, "*E N D"]) -> Float[Tensor, "*E P N"]:
    # Differences, not |a|^2 + |b|^2 - 2ab: that form loses digits exactly where an optimizer
    # converges, among points that nearly coincide. With a diagonal of 1e-8 the loss is visible in
    # the posterior deviation there.
    columns = a.unsqueeze(-1).unbind(-2)  # D of E P 1
    rows = b.mT.contiguous().unsqueeze(-2).unbind(-3)  # D of E 1 N
    total = (columns[0] - rows[0]).square()
    for a_d, b_d in zip(columns[1:], rows[1:], strict=True):
        difference = a_d - b_d
        total = total.addcmul(difference, difference)
    return total


def _root(r2: Tensor) -> Tensor:
    # The derivative of sqrt at 0 is infinite, and times the derivative 0 of r^2 at coinciding
    # points it would be NaN.
    return r2.clamp_min(1e-30).sqrt()
