"""The machines: MuJoCo's mechanics are ours, and what was left out makes a difference."""

import math
import sys
from dataclasses import replace

import pytest
import torch

import metabo
from metabo.errors import DataError, DomainError, OptionError
from metabo.sources import source_data
from metabo.tasks.furuta.hardware import Variation, _machine, run
from metabo.tasks.furuta.mechanics import NOMINAL, rate
from metabo.tasks.furuta.real import BEST, BEST_GAINS

NONE = (
    "arm_damping",
    "pendulum_damping",
    "arm_friction",
    "pendulum_friction",
    "tilt",
    "push",
)
IDEAL = Variation(
    **NOMINAL, strength=1.0, lag=1e-9, delay=0, stiction=1.0, **dict.fromkeys(NONE, 0.0)
)


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip("mujoco", reason="MuJoCo is not installed")


def nominal():
    tasks = metabo.family("furuta").read([NOMINAL])
    return tasks, tuple(tasks.regulator[0].tolist())


def test_the_ideal_machine_moves_as_the_simulation(mujoco):
    tasks, _ = nominal()
    body = tasks.model.body(**{name: getattr(tasks, name) for name in NOMINAL})
    _, model, data = _machine(IDEAL)
    for state in ((0.3, 0.7, 2.0, -3.0), (-1.0, 0.1, -4.0, 1.0), (2.0, 3.0, 5.0, 9.0)):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = state[:2], state[2:], (0.01, 0.0)
        mujoco.mj_forward(model, data)
        x = tuple(torch.tensor([part], dtype=torch.float64) for part in state)
        ours = torch.cat(rate(x, torch.tensor([0.01], dtype=torch.float64), body)[2:])
        # MuJoCo wants rods that are not quite thin.
        assert data.qacc.tolist() == pytest.approx(ours.tolist(), rel=1e-3)


def test_a_trial_is_a_function_of_machine_and_gains(mujoco):
    _, gains = nominal()
    first, other = Variation.numbered(0), Variation.numbered(1)
    before = run(first, gains)
    assert run(other, gains) != before
    assert run(first, gains, record=True).cost == before.cost
    assert first == Variation.numbered(0)


@pytest.mark.slow
def test_regulators_lose_on_the_machines_what_the_simulation_leaves_out(mujoco):
    tasks, gains = nominal()
    values = [-math.log10(run(Variation.numbered(n), gains).cost) for n in range(10)]
    assert sum(value <= tasks.optimum.item() - 0.3 for value in values) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "worse"), [("delay", 8), ("arm_friction", 0.01), ("lag", 0.03), ("tilt", 0.05)]
)
def test_each_imperfection_costs(mujoco, name, worse):
    _, gains = nominal()
    assert run(replace(IDEAL, **{name: worse}), gains).cost > run(IDEAL, gains).cost


@pytest.mark.slow
def test_the_best_known_gains_are_worth_what_is_stored(mujoco):
    from furuta_real import value

    tasks = metabo.family("furuta-real").sample(10, torch.Generator())
    assert torch.equal(tasks.optimum, torch.tensor(BEST, dtype=torch.float64))
    _, share = tasks.trial(torch.tensor(BEST_GAINS, dtype=torch.float64)[:, None])
    assert (share == 1).all()
    found = [value(Variation.numbered(n), BEST_GAINS[n]) for n in range(3)]
    # Another version of MuJoCo may round otherwise.
    assert found == pytest.approx(BEST[:3], abs=0.05)


def test_bad_gains_have_a_finite_cost(mujoco):
    for size in (1e3, 1e308, math.inf, math.nan):
        trial = run(IDEAL, (size, -size, size, size))
        assert trial.share == 0
        assert trial.cost == 1000
    fallen = run(IDEAL, (0.0, 0.0, 0.0, 0.0))
    assert 0 < fallen.share < 0.2


def test_methods_run_on_the_machines(mujoco):
    run = metabo.evaluate("furuta-real", methods=["random", "ei"], tasks=2, budget=2)
    assert torch.isfinite(run.methods["ei"].regret).all()


@pytest.mark.slow
def test_their_sources_are_the_simulations():
    here, there = (source_data(metabo.family(f), 2, 5) for f in ("furuta-real", "furuta"))
    assert torch.equal(here.y, there.y)


def test_machines_are_numbered(mujoco):
    family = metabo.family("furuta-real")
    assert family.read([{"variation": 3}]).number.tolist() == [3]
    with pytest.raises(OptionError, match="has 10 tasks, but 100 were asked for"):
        family.sample(100, torch.Generator())
    with pytest.raises(
        DataError, match=r"`variation` in Task 0 must be a whole number in 0..9, but is 10"
    ):
        family.read([{"variation": 10}])
    for wrong in ({}, {"variation": 1.5}, {"variation": 1, "seed": 2}, {"mass_arm": 1}):
        with pytest.raises(DataError, match=r"in Task 0|Task 0 must have no other fields"):
            family.read([wrong])
    with pytest.raises(DomainError, match="must lie in the unit cube"):
        family.sample(1, torch.Generator())(torch.full((1, 1, 4), 2.0).double())


def test_without_mujoco_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    family = metabo.family("furuta-real")
    with pytest.raises(OptionError, match=r"Install it with `pip install metabo\[furuta\]`"):
        family.sample(1, torch.Generator())
    with pytest.raises(OptionError, match="needs MuJoCo"):
        family.read([{"variation": 0}])
