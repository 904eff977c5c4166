"""Equations of motion of a rotary (Furuta) pendulum: a driven arm with a pendulum at its tip.

A state x consists of the angles of arm (theta) and pendulum (alpha, 0 is upright) in rad, then
their speeds in rad/s, each a tensor over simulations. With s = sin alpha and c = cos alpha

    (a + b s^2) theta'' - p c alpha'' = torque - s (2 b c theta' alpha' + p alpha'^2)
    -p c theta'' + d alpha''          = s (b c theta'^2 + g)

where a, b, p, d and g follow from masses and lengths (`Coefficients`).
`docs/concepts/pendulum.md` derives them. Operations are written so that few kernels are launched,
since a simulation takes thousands of steps.
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
"""Measured masses and lengths of the QUBE-Servo 2, in kg and m.

They are in the order of the axes of the Sobol sequence of the published source tasks.
"""
GRAVITY = 9.81
START = math.radians(10)
"""Initial angle of the pendulum, rad; it is at rest, and the arm is at zero."""


State = tuple[Tensor, Tensor, Tensor, Tensor]


class Coefficients(NamedTuple):
    """Coefficients of the equations of motion, one number per simulation."""

    a: Tensor
    b: Tensor
    p: Tensor
    d: Tensor
    g: Tensor


def simulated(
    step: Callable[..., tuple[State, Tensor, Tensor]],
    n_calls: int,
    body: Coefficients,
    gains: State,
) -> tuple[Tensor, Tensor]:
    """Return the cost of trials after `n_calls` calls of `step`, and their lengths in steps."""
    zero = torch.zeros_like(body.a)
    x: State = (zero, zero + START, zero, zero)
    total, steps = zero, zero
    for _ in range(n_calls):
        x, total, steps = step(x, total, steps, body, gains)
    return total, steps


def rate(x: State, torque: Tensor, body: Coefficients, *, is_published: bool = False) -> State:
    """Return the time derivative of a state under a torque on the arm.

    Args:
        x: State of each simulation.
        torque: Torque in N m for each simulation.
        body: Coefficients for each simulation.
        is_published: Whether to add p theta' alpha' in the last bracket: the published program
            omits the term of opposite sign that cancels it.
    """
    _, pendulum, spin, swing = x
    s, c = pendulum.sin(), pendulum.cos()
    coupling = body.p * c
    inertia = torch.addcmul(body.a, body.b * s, s)
    whirl, pull = body.b * c * spin, body.p * swing
    on_arm = torch.addcmul(torque, s * swing, torch.add(pull, whirl, alpha=2), value=-1)
    lift = whirl + pull if is_published else whirl
    on_pendulum = s * torch.addcmul(body.g, spin, lift)
    determinant = torch.addcmul(inertia * body.d, coupling, coupling, value=-1)
    return (
        spin,
        swing,
        torch.addcmul(body.d * on_arm, coupling, on_pendulum) / determinant,
        torch.addcmul(inertia * on_pendulum, coupling, on_arm) / determinant,
    )


def dot(gains: State, x: State) -> Tensor:
    """Return K x, where each simulation has its own gains."""
    total = gains[0] * x[0]
    for k, part in zip(gains[1:], x[1:], strict=True):
        total = torch.addcmul(total, k, part)
    return total


def after(x: State, slope: State, seconds: float) -> State:
    """Return the state after some time at a constant slope."""
    a, b, c, d = (torch.add(p, q, alpha=seconds) for p, q in zip(x, slope, strict=True))
    return a, b, c, d


def chosen(is_new: Tensor, new: State, old: State) -> State:
    """Return the new state where `is_new`, and the old state elsewhere."""
    a, b, c, d = (torch.where(is_new, p, q) for p, q in zip(new, old, strict=True))
    return a, b, c, d


def runge_kutta(x: State, slope: Callable[[State], State], seconds: float) -> State:
    """Return the state after some time, by one step of the Runge-Kutta method of order four."""
    first = slope(x)
    second = slope(after(x, first, seconds / 2))
    third = slope(after(x, second, seconds / 2))
    fourth = slope(after(x, third, seconds))
    total = after(after(first, fourth, 1), after(second, third, 1), 2)
    return after(x, total, seconds / 6)


def linearized(
    body: Coefficients, *, damping: float = 0.0, stiffness: float = 0.0
) -> tuple[Float[Tensor, "E 4 4"], Float[Tensor, "E 4 1"]]:
    """Return F and G of x' = F x + G torque near the upright equilibrium.

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


def energy(x: State, body: Coefficients) -> Tensor:
    """Return the sum of kinetic and potential energy, in J."""
    _, pendulum, spin, swing = x
    s, c = pendulum.sin(), pendulum.cos()
    kinetic = 0.5 * ((body.a + body.b * s * s) * spin * spin + body.d * swing * swing)
    return kinetic - body.p * c * spin * swing + body.g * c
