"""The equations of motion against laws of nature and an independent integrator."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from metabo.tasks.furuta.mechanics import (
    NOMINAL,
    energy,
    linearized,
    rate,
    runge_kutta,
)
from metabo.tasks.furuta.physical import BRAKE, PER_VOLT, STEP, Physical
from metabo.tasks.furuta.published import CABLE, Published


def body_of(model, n=1, **changes):
    values = {name: torch.full((n,), v, dtype=torch.float64) for name, v in NOMINAL.items()}
    return model.body(**(values | changes))


def state_of(*parts):
    return tuple(torch.tensor([part], dtype=torch.float64) for part in parts)


def torque_of(value):
    return torch.tensor([value], dtype=torch.float64)


def lagrangian(q, w, parameters):
    """Kinetic minus potential energy of two rods, summed over pieces of them."""
    m, n = 400, (np.arange(400) + 0.5) / 400
    arm, length = parameters["length_arm"], parameters["length_pendulum"]
    spin = 0.5 * (parameters["mass_arm"] / m) * np.sum((n * arm * w[0]) ** 2)
    # A piece of the pendulum at r hangs at the arm's tip and swings across the arm.
    r = n * length
    x, y, z = np.zeros((3, m)), np.zeros((3, m)), np.zeros(m)
    h = 1e-6
    for k, t in enumerate((-h, 0.0, h)):
        theta, alpha = q[0] + t * w[0], q[1] + t * w[1]
        across = -r * np.sin(alpha)
        x[k] = arm * np.cos(theta) - across * np.sin(theta)
        y[k] = arm * np.sin(theta) + across * np.cos(theta)
        if k == 1:
            z = r * np.cos(alpha)
    up = -r * np.sin(q[1]) * w[1]
    speed = ((x[2] - x[0]) / (2 * h)) ** 2 + ((y[2] - y[0]) / (2 * h)) ** 2 + up**2
    mass = parameters["mass_pendulum"] / m
    return spin + 0.5 * mass * speed.sum() - mass * 9.81 * z.sum(), mass * 9.81 * z.sum()


def test_the_published_state_derivative():
    # The program's cable takes 0.016 N m/rad of the torque.
    torque = torque_of(0.05 - CABLE * 0.1)
    found = rate(state_of(0.1, 0.2, 0.3, 0.4), torque, body_of(Published()), is_published=True)
    expected = (0.3, 0.4, 600.1147948024095, 716.1994353580465)
    assert [part.item() for part in found] == pytest.approx(expected, rel=1e-12)


def test_the_energy_is_that_of_two_rods():
    for q, w in (((0.3, 0.7), (2.0, -1.0)), ((-1.0, 2.5), (-3.0, 4.0))):
        difference, potential = lagrangian(q, w, NOMINAL)
        ours = energy(state_of(*q, *w), body_of(Physical())).item()
        assert ours == pytest.approx(difference + 2 * potential, rel=1e-4)


def drift_of_energy(step, **options):
    """The largest relative change of energy in two seconds of free motion."""
    body, x = body_of(Physical()), state_of(0.0, 0.3, 1.0, -2.0)
    before, worst = energy(x, body), 0.0
    for _ in range(round(2 / step)):
        x = runge_kutta(x, lambda at: rate(at, torque_of(0.0), body, **options), step)
        worst = max(worst, (energy(x, body) / before - 1).abs().item())
    assert x[1].abs().item() > 1  # it did swing
    return worst


@pytest.mark.slow
def test_energy_is_conserved_without_input_and_friction():
    fine, coarse = drift_of_energy(1e-3), drift_of_energy(4e-3)
    assert fine < 1e-7
    assert coarse / fine > 100  # what is left is the integrator's, of order four


@pytest.mark.slow
def test_the_published_term_does_not_conserve_energy():
    assert drift_of_energy(1e-3, is_published=True) > 0.01


def test_a_fifth_of_a_second_is_that_of_an_adaptive_integrator():
    body, x, voltage = body_of(Physical()), state_of(0.2, 0.1, 0.0, -1.0), torque_of(2.0)

    def slope(at):
        return rate(at, PER_VOLT * voltage - BRAKE * at[2], body)

    def numbers(_, state):
        return [part.item() for part in slope(state_of(*state))]

    exact = solve_ivp(numbers, (0, 0.2), [part.item() for part in x], rtol=1e-11, atol=1e-12).y[
        :, -1
    ]
    for _ in range(20):
        x = runge_kutta(x, slope, STEP)
    torch.testing.assert_close(torch.cat(x), torch.from_numpy(exact), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("model", [Published(), Physical()])
def test_the_linearization_is_the_derivative_at_upright(model):
    body, damping, stiffness = body_of(model), 0.003, 0.016
    drift, push = linearized(body, damping=damping, stiffness=stiffness)

    def slope(state):
        x = tuple(state[:4, None])
        return torch.cat(rate(x, state[4:] - damping * x[2] - stiffness * x[0], body))

    point = torch.zeros(5, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(slope, point)
    torch.testing.assert_close(torch.cat([drift[0], push[0]], -1), jacobian)
