"""A physically correct model of the pendulum: two thin rods and a voltage-driven motor.

The arm turns about its end, and the pendulum about the arm's tip; the motor has back-EMF and no
friction. A digital controller sets V = -K x a hundred times a second; in between, V is constant
and the equations are integrated by the Runge-Kutta method of order four. A trial ends, at a cost
for the remaining time, when the pendulum falls below the horizontal, the arm makes half a turn, or
the controller demands more voltage than is safe.
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
"""Time step, s."""
STEPS = 500
"""Number of time steps in a trial."""
RESISTANCE = 8.4
"""Resistance of the motor, ohm, from its data sheet."""
TORQUE_CONSTANT = 0.042
"""Torque constant, N m/A, and back-EMF constant, V s/rad, of the motor, from its data sheet."""
PER_VOLT = TORQUE_CONSTANT / RESISTANCE
"""Torque per volt of the motor at rest, N m/V."""
BRAKE = TORQUE_CONSTANT**2 / RESISTANCE
"""Damping by back-EMF, N m s/rad."""
VOLTAGE_LIMIT = 10.0
PENDULUM_LIMIT = math.pi / 2
ARM_LIMIT = math.pi
ANGLE_COST, SPEED_COST, VOLTAGE_COST = 5.0, 0.1, 0.5
CRASH_COST = 1e3
"""Cost per second of the time that remains after a crash."""


@dataclass(frozen=True)
class Physical:
    """Trials of five seconds with the motor's voltage V = -K x."""

    fused: Fused = "cuda"
    """Devices on which time steps are compiled into one kernel."""

    def body(
        self, mass_arm: Tensor, mass_pendulum: Tensor, length_arm: Tensor, length_pendulum: Tensor
    ) -> Coefficients:
        """Return the coefficients of two thin rods, each turning about its end."""
        swing = mass_pendulum * length_pendulum.square() / 3
        return Coefficients(
            a=(mass_arm / 3 + mass_pendulum) * length_arm.square(),
            b=swing,
            p=mass_pendulum * length_arm * length_pendulum / 2,
            d=swing,
            g=GRAVITY * mass_pendulum * length_pendulum / 2,
        )

    def regulator(self, body: Coefficients) -> Float[Tensor, "E 4"]:
        """Return LQR gains for the linearized motion with a voltage that is constant in a step."""
        drift, push = linearized(body, damping=BRAKE)
        both = torch.cat([drift, PER_VOLT * push], -1)  # E 4 5
        both = torch.cat([both, torch.zeros_like(both[:, :1])], -2)
        moved = torch.linalg.matrix_exp(STEP * both)
        cost = torch.diag(drift.new_tensor([ANGLE_COST] * 2 + [SPEED_COST] * 2))
        voltage = drift.new_tensor([[VOLTAGE_COST]])
        return lqr(moved[:, :4, :4], moved[:, :4, 4:], cost, voltage)[:, 0]

    def trial(self, body: Coefficients, gains: State) -> tuple[Tensor, Tensor]:
        """Return the cost per second of each simulation, and the share of time until a crash."""
        step, n_calls = fused_steps(self.fused, _step, STEPS, body.a)
        total, steps = simulated(step, n_calls, body, gains)
        cost = (total + CRASH_COST * (STEPS - steps)) / STEPS
        return cost.nan_to_num(nan=CRASH_COST), steps / STEPS


def _step(
    x: State, total: Tensor, steps: Tensor, body: Coefficients, gains: State
) -> tuple[State, Tensor, Tensor]:
    """Take one step of the running trials; the others keep their unsafe state."""
    asked = -dot(gains, x)
    is_safe = (
        (asked.abs() <= VOLTAGE_LIMIT)  # false for NaN
        & (x[0].abs() <= ARM_LIMIT)
        & (x[1].abs() <= PENDULUM_LIMIT)
    )
    # Unsafe voltages are clamped, too: their discarded results must not overflow.
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
