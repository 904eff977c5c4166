"""A physically right model of the pendulum: two thin rods and a voltage-driven motor.

The arm turns about its end, the pendulum about the arm's tip; the motor has back-EMF and no
friction. A digital controller sets V = -K x a hundred times a second and holds it; in between the
equations are integrated by Runge-Kutta's method of order four. A trial is over, at a cost for the
time that remains, when the pendulum falls below the horizontal, the arm makes half a turn, or more
voltage is asked for than is safe.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.shapes import Float
from metabo.tasks.furuta.fusion import Fused, fused_steps
from metabo.tasks.furuta.mechanics import (
    GRAVITY,
    Coefficients,
    State,
    chosen,
    dot,
    linearized,
    rate,
    runge_kutta,
    simulated,
)
from metabo.tasks.furuta.riccati import lqr

STEP = 0.01
STEPS = 500
RESISTANCE = 8.4
"""Resistance of the motor, ohm; this and the next are from its data sheet."""
TORQUE_CONSTANT = 0.042
"""N m/A, and V s/rad of back-EMF."""
PER_VOLT = TORQUE_CONSTANT / RESISTANCE
"""N m/V of the motor at rest."""
BRAKE = TORQUE_CONSTANT**2 / RESISTANCE
"""N m s/rad that the back-EMF takes away."""
VOLTAGE_LIMIT = 10.0
PENDULUM_LIMIT = math.pi / 2
ARM_LIMIT = math.pi
ANGLE_COST, SPEED_COST, VOLTAGE_COST = 5.0, 0.1, 0.5
CRASH_COST = 1e3
"""Per second that a crashed trial would have had to go on."""


@dataclass(frozen=True)
class Physical:
    """Five seconds under V = -K x, the motor's voltage."""

    fused: Fused = "cuda"

    def body(
        self, mass_arm: Tensor, mass_pendulum: Tensor, length_arm: Tensor, length_pendulum: Tensor
    ) -> Coefficients:
        """The coefficients of two thin rods, each turning about its end."""
        swing = mass_pendulum * length_pendulum.square() / 3
        return Coefficients(
            a=(mass_arm / 3 + mass_pendulum) * length_arm.square(),
            b=swing,
            p=mass_pendulum * length_arm * length_pendulum / 2,
            d=swing,
            g=GRAVITY * mass_pendulum * length_pendulum / 2,
        )

    def regulator(self, body: Coefficients) -> Float[Tensor, "E 4"]:
        """LQR gains for the linearized motion under a voltage that is held for a step."""
        drift, push = linearized(body, damping=BRAKE)
        both = torch.cat([drift, PER_VOLT * push], -1)  # E 4 5
        both = torch.cat([both, torch.zeros_like(both[:, :1])], -2)
        moved = torch.linalg.matrix_exp(STEP * both)
        cost = torch.diag(drift.new_tensor([ANGLE_COST] * 2 + [SPEED_COST] * 2))
        voltage = drift.new_tensor([[VOLTAGE_COST]])
        return lqr(moved[:, :4, :4], moved[:, :4, 4:], cost, voltage)[:, 0]

    def trial(self, body: Coefficients, gains: State) -> tuple[Tensor, Tensor]:
        """Cost per second of each simulation, and the share of its time until it crashed."""
        step, n_calls = fused_steps(self.fused, _step, STEPS, body.a)
        total, steps = simulated(step, n_calls, body, gains)
        cost = (total + CRASH_COST * (STEPS - steps)) / STEPS
        return cost.nan_to_num(nan=CRASH_COST), steps / STEPS


def _step(
    x: State, total: Tensor, steps: Tensor, body: Coefficients, gains: State
) -> tuple[State, Tensor, Tensor]:
    """One step of the trials that go on; the others stand still, unsafe, and so stay over."""
    asked = -dot(gains, x)
    is_safe = (
        (asked.abs() <= VOLTAGE_LIMIT)  # not so for NaN
        & (x[0].abs() <= ARM_LIMIT)
        & (x[1].abs() <= PENDULUM_LIMIT)
    )
    # Bounded also where it is unsafe: what is computed there and thrown away must not overflow.
    voltage = asked.clamp(-VOLTAGE_LIMIT, VOLTAGE_LIMIT)
    push = PER_VOLT * voltage

    def slope(at: State) -> State:
        return rate(at, torch.add(push, at[2], alpha=-BRAKE), body)

    theta, alpha, spin, swing = (part.square() for part in x)
    spent = torch.add(ANGLE_COST * (theta + alpha), spin + swing, alpha=SPEED_COST)
    spent = torch.addcmul(spent, voltage, voltage, value=VOLTAGE_COST)
    return (
        chosen(is_safe, runge_kutta(x, slope, STEP), x),
        total + spent * is_safe,
        steps + is_safe,
    )
