"""The model of the published program, including its oddities.

It differs from `physical.py` in twice the gravity, the pendulum's inertia from half its length, a
spurious term in the pendulum's equation, the arm's inertia about its middle, an unlimited torque,
and explicit Euler steps.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.shapes import Float
from metabo.tasks.furuta.fusion import Fused, fused_steps
from metabo.tasks.furuta.mechanics import (
    GRAVITY,
    Coefficients,
    State,
    after,
    chosen,
    dot,
    linearized,
    rate,
    simulated,
)
from metabo.tasks.furuta.riccati import lqr

STEP = 0.01
"""Time step, s."""
STEPS = 300
"""Number of time steps in a trial."""
ANGLE_COST, SPEED_COST, TORQUE_COST = 5.0, 0.1, 0.1
CRASH_COST = 1e5
"""Cost per second of the time that remains after a crash."""
BOUND = 100.0
"""Largest angle and speed; a trial ends when one exceeds it."""
CABLE = 0.016
"""Stiffness of the cable, N m/rad."""
WORST = 1e8
"""Cost if it is not finite, for gains far outside the box; in the box it is at most 1.3e7."""


@dataclass(frozen=True)
class Published:
    """Trials of three seconds with the torque u = -K x on the arm, in N m."""

    fused: Fused = "cuda"
    """Devices on which time steps are compiled into one kernel."""

    def body(
        self, mass_arm: Tensor, mass_pendulum: Tensor, length_arm: Tensor, length_pendulum: Tensor
    ) -> Coefficients:
        """Return the published coefficients."""
        half = length_pendulum / 2
        swing = mass_pendulum * half.square()
        return Coefficients(
            a=mass_arm * length_arm.square() / 12 + mass_pendulum * length_arm.square(),
            b=swing,
            p=mass_pendulum * length_arm * half,
            d=swing * (1 + 2 / 12),
            g=2 * GRAVITY * mass_pendulum * half,
        )

    def regulator(self, body: Coefficients) -> Float[Tensor, "E 4"]:
        """Return LQR gains for the linearized Euler steps."""
        drift, push = linearized(body, stiffness=CABLE)
        identity = torch.eye(4, dtype=drift.dtype, device=drift.device)
        cost = torch.diag(drift.new_tensor([ANGLE_COST] * 2 + [SPEED_COST] * 2))
        torque = drift.new_tensor([[TORQUE_COST]])
        return lqr(identity + STEP * drift, STEP * push, cost, torque)[:, 0]

    def trial(self, body: Coefficients, gains: State) -> tuple[Tensor, Tensor]:
        """Return the cost per second of each simulation, and the share of time until a crash."""
        step, n_calls = fused_steps(self.fused, _step, STEPS, body.a, at_once=5)
        total, steps = simulated(step, n_calls, body, gains)
        missed = STEP * CRASH_COST * (STEPS - steps)
        cost = (total + missed) / (STEP * STEPS)
        return cost.nan_to_num(nan=WORST).clamp_max(WORST), steps / STEPS


def _step(
    x: State, total: Tensor, steps: Tensor, body: Coefficients, gains: State
) -> tuple[State, Tensor, Tensor]:
    """Take one Euler step of the running trials; the others keep their state."""
    torque = -dot(gains, x)
    slope = rate(x, torch.add(torque, x[0], alpha=-CABLE), body, is_published=True)
    theta, alpha, spin, swing = (part.square() for part in x)
    largest = torch.maximum(torch.maximum(theta, alpha), torch.maximum(spin, swing))
    is_running = largest <= BOUND**2  # false for NaN
    spent = torch.add(ANGLE_COST * (theta + alpha), spin + swing, alpha=SPEED_COST)
    spent = torch.addcmul(spent, torque, torque, value=TORQUE_COST)
    return (
        chosen(is_running, after(x, slope, STEP), x),
        total + spent * is_running,
        steps + is_running,
    )
