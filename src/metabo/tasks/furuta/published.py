"""The model of the published program, oddities included.

Beside `physical.py` it has twice the gravity, the pendulum's inertia from half its length, a
spurious term in the pendulum's equation, the arm's inertia about its middle, a torque without any
limit, and explicit Euler steps.
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
STEPS = 300
ANGLE_COST, SPEED_COST, TORQUE_COST = 5.0, 0.1, 0.1
CRASH_COST = 1e5
"""Per second that a crashed trial would have had to go on."""
BOUND = 100.0
"""A trial is over when an angle or a speed exceeds it."""
CABLE = 0.016
"""Stiffness of the cable, N m/rad."""
WORST = 1e8
"""Cost where there is no finite one, for gains far outside the box; in it 1.3e7 is the most."""


@dataclass(frozen=True)
class Published:
    """Three seconds under u = -K x, the torque on the arm in N m."""

    fused: Fused = "cuda"

    def body(
        self, mass_arm: Tensor, mass_pendulum: Tensor, length_arm: Tensor, length_pendulum: Tensor
    ) -> Coefficients:
        """The published coefficients."""
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
        """LQR gains for the linearized Euler steps."""
        drift, push = linearized(body, stiffness=CABLE)
        identity = torch.eye(4, dtype=drift.dtype, device=drift.device)
        cost = torch.diag(drift.new_tensor([ANGLE_COST] * 2 + [SPEED_COST] * 2))
        torque = drift.new_tensor([[TORQUE_COST]])
        return lqr(identity + STEP * drift, STEP * push, cost, torque)[:, 0]

    def trial(self, body: Coefficients, gains: State) -> tuple[Tensor, Tensor]:
        """Cost per second of each simulation, and the share of its time until it crashed."""
        step, n_calls = fused_steps(self.fused, _step, STEPS, body.a, at_once=5)
        total, steps = simulated(step, n_calls, body, gains)
        missed = STEP * CRASH_COST * (STEPS - steps)
        cost = (total + missed) / (STEP * STEPS)
        return cost.nan_to_num(nan=WORST).clamp_max(WORST), steps / STEPS


def _step(
    x: State, total: Tensor, steps: Tensor, body: Coefficients, gains: State
) -> tuple[State, Tensor, Tensor]:
    """One Euler step of the trials that go on; the others stand still."""
    torque = -dot(gains, x)
    slope = rate(x, torch.add(torque, x[0], alpha=-CABLE), body, is_published=True)
    theta, alpha, spin, swing = (part.square() for part in x)
    largest = torch.maximum(torch.maximum(theta, alpha), torch.maximum(spin, swing))
    goes_on = largest <= BOUND**2  # not so for NaN
    spent = torch.add(ANGLE_COST * (theta + alpha), spin + swing, alpha=SPEED_COST)
    spent = torch.addcmul(spent, torque, torque, value=TORQUE_COST)
    return (
        chosen(goes_on, after(x, slope, STEP), x),
        total + spent * goes_on,
        steps + goes_on,
    )
