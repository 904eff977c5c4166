"""The simulated families: published values, laws, and what cannot be simulated."""

import math
import shutil
import subprocess
import sys
from functools import cache

import pytest
import torch
from scipy.linalg import solve_discrete_are
from torch.utils._python_dispatch import TorchDispatchMode

import metabo
from metabo.domain import sobol
from metabo.errors import DataError, DomainError, OptionError
from metabo.tasks.furuta import physical, published
from metabo.tasks.furuta.family import PHYSICAL_BOX, PUBLISHED_BOX
from metabo.tasks.furuta.mechanics import NOMINAL, linearized
from metabo.tasks.furuta.physical import CRASH_COST, VOLTAGE_LIMIT, _step
from metabo.training.graphs import _form

NAMES = ["furuta-reference", "furuta"]


@cache
def nominal(name):
    return metabo.family(name).read([NOMINAL])


def points(*rows):
    return torch.tensor([rows], dtype=torch.float64)


def test_the_published_values():
    tasks = nominal("furuta-reference")
    gains = (-0.0490704, 0.3209655, -0.0100960, 0.0183537)
    assert tasks.regulator[0].tolist() == pytest.approx(gains, abs=1e-7)
    assert tasks.box.encode(tasks.regulator)[0].tolist() == pytest.approx(
        (0.64419, 0.34303, 0.64217, 0.41681), abs=1e-5
    )
    assert tasks.optimum.item() == pytest.approx(-1.1491746, abs=1e-6)
    values = tasks(points([0.5] * 4, [0.2, 0.8, 0.3, 0.6], [0.7, 0.3, 0.6, 0.2]))
    published = (-4.9932516, -4.9980919, -4.9946758)
    assert values[0].tolist() == pytest.approx(published, abs=1e-6)


def plain(gains, mass_arm, mass_pendulum, length_arm, length_pendulum):
    """The published simulation in plain Python, one number at a time."""
    a, m, h = length_arm, mass_pendulum, length_pendulum / 2
    x, cost = (0.0, math.radians(10), 0.0, 0.0), 0.0
    for n in range(300):
        if not all(abs(part) <= 100 for part in x):
            return -math.log10((cost + 3e5 * (300 - n) / 300) / 3)
        u = -sum(k * part for k, part in zip(gains, x, strict=True))
        s, c = math.sin(x[1]), math.cos(x[1])
        m11 = mass_arm * a**2 / 12 + m * (a**2 + h**2 * s**2)
        m12, m22 = -a * h * m * c, 2 * m * h**2 / 12 + h**2 * m
        r1 = u - 0.016 * x[0] - x[3] * h * m * (2 * x[2] * h * c + x[3] * a) * s
        r2 = h * m * (x[2] * (x[2] * h * c + x[3] * a) + 2 * 9.81) * s
        det = m11 * m22 - m12**2
        cost += 5 * (x[0] ** 2 + x[1] ** 2) + 0.1 * (x[2] ** 2 + x[3] ** 2 + u**2)
        x = (
            x[0] + 0.01 * x[2],
            x[1] + 0.01 * x[3],
            x[2] + 0.01 * (m22 * r1 - m12 * r2) / det,
            x[3] + 0.01 * (m11 * r2 - m12 * r1) / det,
        )
    return -math.log10(cost / 3)


def test_a_batch_of_simulations_is_a_plain_loop(rng):
    tasks = metabo.family("furuta-reference", scale=(0.5, 1.5)).sample(3, rng)
    spread = torch.rand(3, 20, 4, generator=rng, dtype=torch.float64)
    gains = tasks.box.decode(spread)
    gains[:, 10:] = tasks.regulator[:, None] * (0.9 + 0.2 * spread[:, 10:])
    values = tasks.score(gains)
    for e in range(3):
        parameters = {name: getattr(tasks, name)[e].item() for name in NOMINAL}
        alone = [plain(k.tolist(), **parameters) for k in gains[e]]
        assert values[e].tolist() == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_regulator_is_scipys(name, rng):
    tasks = metabo.family(name, scale=(0.3, 2.0)).sample(10, rng)
    body = tasks.model.body(**{n: getattr(tasks, n) for n in NOMINAL})
    if name == "furuta-reference":
        drift, push = linearized(body, stiffness=0.016)
        moved, pushed = torch.eye(4).double() + 0.01 * drift, 0.01 * push
        control = torch.tensor([[0.1]]).double()
    else:
        drift, push = linearized(body, damping=0.042**2 / 8.4)
        whole = torch.zeros(10, 5, 5).double()
        whole[:, :4] = torch.cat([drift, 0.042 / 8.4 * push], -1)
        whole = torch.linalg.matrix_exp(0.01 * whole)
        moved, pushed, control = whole[:, :4, :4], whole[:, :4, 4:], torch.tensor([[0.5]]).double()
    state = torch.diag(torch.tensor([5.0, 5.0, 0.1, 0.1]).double())
    for a, b, k in zip(moved, pushed, tasks.regulator, strict=True):
        p = torch.from_numpy(solve_discrete_are(*(m.numpy() for m in (a, b, state, control))))
        expected = torch.linalg.solve(control + b.mT @ p @ b, b.mT @ p @ a)[0]
        torch.testing.assert_close(k, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_regulators_keep_the_pendulum_up(name, rng):
    tasks = metabo.family(name).sample(100, rng)
    cost, share = tasks.trial(tasks.regulator[:, None])
    assert (share == 1).all()
    assert (cost < 50).all()


@pytest.mark.slow
def test_at_most_one_in_twenty_uniform_gains_keeps_the_pendulum_up(rng):
    for name in NAMES:
        tasks = nominal(name)
        unit = torch.rand(1, 4000, 4, generator=rng, dtype=torch.float64)
        share = tasks.trial(tasks.box.decode(unit))[1]
        assert 0.005 < (share == 1).double().mean() < 0.05


@pytest.mark.slow
def test_the_longer_it_stays_up_the_better(rng):
    tasks = nominal("furuta")
    unit = torch.rand(1, 3000, 4, generator=rng, dtype=torch.float64)
    cost, share = tasks.trial(tasks.box.decode(unit))
    order = share[0].argsort()
    shares, costs = share[0][order], cost[0][order]
    later = shares[1:] > shares[:-1] + 0.03  # what it cost until then matters less than that
    assert later.sum() > 3
    assert (costs[1:][later] < costs[:-1][later]).all()
    assert cost[share == 1].max() < cost[share < 0.9].min()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1e3, 1e8, 1e160, 1e308, math.inf, math.nan])
def test_no_gains_give_nan(name, size):
    tasks = nominal(name)
    signs = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0]).double()] * 4)
    values = tasks.score(size * signs[None])
    assert torch.isfinite(values).all()
    assert (values < -2.5).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_extreme_pendula_have_finite_values(name, rng):
    family = metabo.family(name, scale=(0.01, 100))
    tasks = family.sample(30, rng)
    x = torch.rand(30, 20, 4, generator=rng, dtype=torch.float64)
    assert torch.isfinite(tasks(x)).all()
    assert torch.isfinite(tasks.optimum).all()


@pytest.mark.slow
def test_too_much_voltage_ends_a_trial():
    tasks = nominal("furuta")
    start = math.radians(10)
    gains = torch.zeros(1, 2, 4, dtype=torch.float64)
    gains[0, :, 1] = torch.tensor([0.99, 1.01]) * VOLTAGE_LIMIT / start
    cost, share = tasks.trial(gains)
    assert share[0, 0] > 0
    assert share[0, 1] == 0
    assert cost[0, 1] == CRASH_COST


def test_a_trial_that_is_over_stands_still():
    tasks = nominal("furuta")
    body = tasks.model.body(**{name: getattr(tasks, name) for name in NOMINAL})
    one = torch.ones(1, dtype=torch.float64)
    x = (0 * one, 2 * one, 3 * one, 4 * one)
    after, total, steps = _step(x, one, 7 * one, body, (one, one, one, one))
    assert all(map(torch.equal, after, x))
    assert (total, steps) == (one, 7 * one)


def test_a_recording_can_take_the_tasks_apart(rng):
    tasks = metabo.family("furuta").sample(3, rng)
    again = metabo.family("furuta").sample(3, rng)
    assert hash(_form(tasks)) == hash(_form(again))
    assert _form(tasks) == _form(again)


class Watch(TorchDispatchMode):
    """Notes what would look at a value on the device, or copy one to it."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation.overloadpacket.__name__
        if name in ("_local_scalar_dense", "nonzero", "masked_select", "lift_fresh", "copy_") or (
            name == "_to_copy" and "device" in (kwargs or {})
        ):
            self.seen.append(name)
        return operation(*args, **(kwargs or {}))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_graph_can_record_it(name, rng, monkeypatch):
    for module in (physical, published):
        monkeypatch.setattr(module, "STEPS", 5)  # all are alike
    # Tensors without values: whatever asks for one fails here.
    tasks = metabo.family(name).sample(3, rng).to("meta")
    with Watch() as watch:
        assert tasks(torch.empty(3, 2, 4, dtype=torch.float64, device="meta")).shape == (3, 2)
        assert tasks.optimum.shape == (3,)
    assert watch.seen == []


FUSED = """
import torch, metabo
from metabo.tasks.furuta.mechanics import NOMINAL

for name in ("furuta-reference", "furuta"):
    plain, fused = (metabo.family(name, fused=f).read([NOMINAL] * 2) for f in ("cuda", "always"))
    share = torch.rand(2, 5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    gains = plain.regulator[:, None] * (0.8 + 0.4 * share)
    print((fused.score(gains) - plain.score(gains)).abs().max().item())
"""


@pytest.mark.slow
def test_fused_steps_give_the_same_values():
    if shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    # In a process of its own: the suite's run-time shape checks cannot be compiled.
    done = subprocess.run(
        [sys.executable, "-c", FUSED], capture_output=True, text=True, check=True
    )
    assert all(float(line) < 1e-9 for line in done.stdout.split())
    assert len(done.stdout.split()) == 2


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_devices_agree(name, cuda, rng):
    tasks = metabo.family(name).sample(20, rng)
    x = torch.rand(20, 50, 4, generator=rng, dtype=torch.float64)
    there = tasks.to(cuda)
    torch.testing.assert_close(there.optimum.cpu(), tasks.optimum, rtol=0, atol=1e-6)
    away = (there(x.to(cuda)).cpu() - tasks(x)).abs()
    assert (away < 1e-6).double().mean() > 0.99  # rounding decides at the edge of a crash


def test_gains_have_their_place_in_the_cube(rng):
    box = nominal("furuta").box
    x = torch.rand(7, 4, generator=rng, dtype=torch.float64)
    torch.testing.assert_close(box.encode(box.decode(x)), x)


def test_gains_outside_the_box_are_named():
    tasks = nominal("furuta")
    with pytest.raises(DomainError, match=r"Gains must lie between .* but got \[9.0, 0.0"):
        tasks.box.encode(torch.tensor([[9.0, 0.0, 0.0, 0.0]]).double())
    with pytest.raises(DomainError, match="must lie in the unit cube"):
        tasks(points([0.5, 0.5, 0.5, 1.1]))


def test_parameters_must_be_positive_and_named():
    family = metabo.family("furuta")
    for wrong in (0, -0.024, 1e9):
        with pytest.raises(
            DataError, match="`mass_pendulum` in Task 0 must be a finite number in"
        ):
            family.read([NOMINAL | {"mass_pendulum": wrong}])
    with pytest.raises(DataError, match="`length_arm` in Task 0 must be a finite number"):
        family.read([NOMINAL | {"length_arm": math.nan}])
    with pytest.raises(DataError, match="`mass_arm` is missing"):
        family.read([{k: v for k, v in NOMINAL.items() if k != "mass_arm"}])
    for scale in ("0..1", "-1..1", "2..1", "1..1e9"):
        with pytest.raises(OptionError, match="`scale` must be a range of shares"):
            metabo.family(f"furuta:scale={scale}")


def test_the_range_can_be_extended(rng):
    tasks = metabo.family("furuta:scale=0.1..2").sample(300, rng)
    for name, value in NOMINAL.items():
        shares = getattr(tasks, name) / value
        assert 0.1 <= shares.min() < 0.2
        assert 1.9 < shares.max() <= 2


@pytest.mark.parametrize("name", ["furuta-reference", "furuta", "furuta-real"])
def test_a_query_means_its_four_gains(name):
    family = metabo.family(name)
    space = family.space
    assert list(space.parameters) == ["arm", "pendulum", "arm_speed", "pendulum_speed"]
    box = PUBLISHED_BOX if name == "furuta-reference" else PHYSICAL_BOX
    x = sobol(5, 4)
    for point, gains in zip(x, box.decode(x).tolist(), strict=True):
        assert list(space.decode(point).values()) == pytest.approx(gains, abs=1e-12)
