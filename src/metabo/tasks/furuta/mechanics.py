"""How a rotary (Furuta) pendulum moves: a driven arm that turns, a pendulum at its tip.

A state x has four rows: the angles of arm (theta) and pendulum (alpha, 0 is upright) in rad, then
their speeds in rad/s; its columns are simulations. With s = sin alpha and c = cos alpha

    (a + b s^2) theta'' - p c alpha'' = torque - s (2 b c theta' alpha' + p alpha'^2)
    -p c theta'' + d alpha''          = s (b c theta'^2 + g)

where a, b, p, d and g are what masses and lengths amount to (`Coefficients`). `docs/furuta.md`
derives them. Operations are written so that few kernels run: a simulation is thousands of them.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from metabo.shapes import Float

NOMINAL = {
    "mass_pendulum": 0.024,
    "mass_arm": 0.095,
    "length_pendulum": 0.129,
    "length_arm": 0.085,
}
"""The measured QUBE-Servo 2, in kg and m.

The order is that of the published source tasks' Sobol sequence.
"""
GRAVITY = 9.81
START = math.radians(10)
"""Angle of the pendulum when a trial begins, at rest and with the arm at zero."""


class Coefficients(NamedTuple):
    """Coefficients of the equations of motion, one number per simulation."""

    a: Tensor
    b: Tensor
    p: Tensor
    d: Tensor
    g: Tensor


def at_start(n: int, like: Tensor) -> Float[Tensor, "4 n"]:
    """The beginning of a trial."""
    x = like.new_zeros(4, n)
    x[1] = START
    return x


def rate(x: Tensor, torque: Tensor, body: Coefficients, *, is_published: bool = False) -> Tensor:
    """The time derivative of a state under a torque on the arm, in N m.

    Args:
        x: States, `4 n`.
        torque: One for each.
        body: Coefficients of each.
        is_published: Adds p theta' alpha' in the last bracket: the published program leaves the
            term of the other sign out that cancels it.
    """
    _, pendulum, spin, swing = x.unbind()
    s, c = pendulum.sin(), pendulum.cos()
    coupling = body.p * c
    inertia = torch.addcmul(body.a, body.b * s, s)
    whirl, pull = body.b * c * spin, body.p * swing
    on_arm = torch.addcmul(torque, s * swing, torch.add(pull, whirl, alpha=2), value=-1)
    lift = whirl + pull if is_published else whirl
    on_pendulum = s * torch.addcmul(body.g, spin, lift)
    determinant = torch.addcmul(inertia * body.d, coupling, coupling, value=-1)
    arm = torch.addcmul(body.d * on_arm, coupling, on_pendulum) / determinant
    other = torch.addcmul(inertia * on_pendulum, coupling, on_arm) / determinant
    return torch.stack([spin, swing, arm, other])


def feedback(x: Tensor, gains: Tensor) -> Tensor:
    """The input -K x, one for each state and its gains, `4 n`."""
    return -(gains * x).sum(0)


def runge_kutta(x: Tensor, slope: Callable[[Tensor], Tensor], seconds: float) -> Tensor:
    """The state some time later, by one step of the method of order four."""
    first = slope(x)
    second = slope(torch.add(x, first, alpha=seconds / 2))
    third = slope(torch.add(x, second, alpha=seconds / 2))
    fourth = slope(torch.add(x, third, alpha=seconds))
    total = torch.add(first + fourth, second + third, alpha=2)
    return torch.add(x, total, alpha=seconds / 6)


def linearized(
    body: Coefficients, *, damping: float = 0.0, stiffness: float = 0.0
) -> tuple[Float[Tensor, "E 4 4"], Float[Tensor, "E 4 1"]]:
    """F and G of x' = F x + G torque near the upright equilibrium.

    Damping and stiffness are those of the arm, in N m s/rad and N m/rad.
    """
    zero, one = torch.zeros_like(body.a), torch.ones_like(body.a)
    determinant = body.a * body.d - body.p.square()
    on_arm, on_pendulum = body.d / determinant, body.p / determinant  # per torque
    fall = body.g / determinant
    rows = (
        (zero, zero, one, zero),
        (zero, zero, zero, one),
        (-stiffness * on_arm, body.p * fall, -damping * on_arm, zero),
        (-stiffness * on_pendulum, body.a * fall, -damping * on_pendulum, zero),
    )
    drift = torch.stack([torch.stack(row, -1) for row in rows], -2)
    return drift, torch.stack([zero, zero, on_arm, on_pendulum], -1)[..., None]


def energy(x: Tensor, body: Coefficients) -> Tensor:
    """Kinetic and potential energy of each state, J."""
    _, pendulum, spin, swing = x.unbind()
    s, c = pendulum.sin(), pendulum.cos()
    kinetic = 0.5 * ((body.a + body.b * s * s) * spin * spin + body.d * swing * swing)
    return kinetic - body.p * c * spin * swing + body.g * c
