import math

import mpmath
import pytest
import scipy.integrate
import scipy.stats
import torch
from botorch.acquisition.analytic import _log_ei_helper

from metabo.acquisition import EI, PI, UCB, LogEI, LogPI
from metabo.acquisition.analytic import log_h_and_slope
from metabo.state import Belief, History


def belief(mean, std, best=0.0, step=0, dim=2):
    mean, std = torch.tensor([mean], dtype=torch.float64), torch.tensor([std], dtype=torch.float64)
    n = mean.shape[-1]
    none = History(torch.zeros(1, 0, dim).double(), torch.zeros(1, 0).double())
    return Belief(
        torch.rand(1, n, dim).double(),
        mean,
        std,
        torch.tensor([best], dtype=torch.float64),
        none,
        torch.tensor(step),
        torch.tensor(30),
    )


CASES = [(0.3, 0.5, 0.1), (-1.0, 0.2, 0.4), (2.0, 1e-3, 0.0), (0.0, 2.0, 0.0)]


@pytest.mark.parametrize(("mean", "std", "best"), CASES)
def test_ei_is_the_integral_of_the_improvement(mean, std, best):
    def integrand(f):
        return max(f - best, 0) * scipy.stats.norm.pdf(f, mean, std)

    span = (mean - 12 * std, mean + 12 * std)
    points = [best] if span[0] < best < span[1] else None
    exact, _ = scipy.integrate.quad(integrand, *span, epsabs=1e-14, points=points)
    assert EI()(belief([mean], [std], best)).item() == pytest.approx(exact, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(("mean", "std", "best"), CASES)
def test_pi_is_scipys_tail(mean, std, best):
    exact = scipy.stats.norm.sf(best + 0.05, mean, std)
    assert PI(0.05)(belief([mean], [std], best)).item() == pytest.approx(exact, rel=1e-12)
    log = scipy.stats.norm.logsf(best + 0.05, mean, std)
    assert LogPI(0.05)(belief([mean], [std], best)).item() == pytest.approx(log, rel=1e-10)


Z = [
    1e6,
    40.0,
    10.1,
    9.9,
    5.0,
    1.0,
    0.0,
    -0.99999,
    -1.0,
    -1.00001,
    -3.0,
    -10.0,
    -37.0,
    -99.9,
    -299.9,
    -300.1,
    -1e3,
    -1e6,
    -1e9,
]


def exact_log_h(z):
    mpmath.mp.dps = 60
    z = mpmath.mpf(z)
    # Mills' ratio by its continued fraction where erfc itself would leave mpmath's exponent range.
    if z > -1e5:
        return float(mpmath.log(mpmath.npdf(z) + z * mpmath.ncdf(z)))
    a = -z
    bracket = 1 / a**2 - 3 / a**4 + 15 / a**6
    return float(-(a**2) / 2 - mpmath.log(2 * mpmath.pi) / 2 + mpmath.log(bracket))


@pytest.mark.parametrize("z", Z)
def test_log_ei_is_right_for_every_z(z):
    assert LogEI()(belief([z], [1.0])).item() == pytest.approx(exact_log_h(z), rel=1e-11)


@pytest.mark.parametrize("z", Z)
def test_the_slope_of_log_h_is_its_derivative(z):
    mpmath.mp.dps = 60
    exact = mpmath.ncdf(z) / (mpmath.npdf(z) + z * mpmath.ncdf(z)) if z > -1e5 else -z
    _, slope = log_h_and_slope(torch.tensor([z], dtype=torch.float64))
    assert slope.item() == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("z", [z for z in Z if z > -50])
def test_ei_is_right_until_it_underflows(z):
    expected = math.exp(exact_log_h(z))
    assert EI()(belief([z], [1.0])).item() == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_log_ei_is_botorchs():
    z = torch.linspace(-200, 8, 2001, dtype=torch.float64)
    ours = LogEI()(belief(z.tolist(), [1.0] * len(z)))[0]
    torch.testing.assert_close(ours, _log_ei_helper(z), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("af", [EI(), LogEI(), PI(), LogPI(), UCB()])
@pytest.mark.parametrize("z", Z)
def test_gradients_are_finite_everywhere(af, z):
    mean = torch.tensor([[z]], dtype=torch.float64).requires_grad_()
    std = torch.ones(1, 1).double().requires_grad_()
    b = belief([0.0], [1.0])
    value = af(Belief(b.x, mean, std, b.best, b.history, b.step, b.budget))
    value.sum().backward()
    assert all(torch.isfinite(v).all() for v in (value, mean.grad, std.grad))


@pytest.mark.parametrize("z", [-1e4, -500.0, -100.0, -30.0, -1.0, 0.5])
def test_the_gradient_of_log_ei_is_its_derivative(z):
    mean = torch.tensor([[z]], dtype=torch.float64).requires_grad_()
    b = belief([0.0], [1.0])
    LogEI()(Belief(b.x, mean, b.std, b.best, b.history, b.step, b.budget)).sum().backward()
    mpmath.mp.dps = 60
    exact = mpmath.diff(lambda v: mpmath.log(mpmath.npdf(v) + v * mpmath.ncdf(v)), z)
    assert mean.grad.item() == pytest.approx(float(exact), rel=1e-6)


def test_ucb_adds_root_beta_deviations():
    assert UCB(9.0)(belief([1.0], [0.5])).item() == pytest.approx(2.5)


@pytest.mark.parametrize(("step", "dim"), [(0, 2), (9, 3)])
def test_the_gp_ucb_schedule_is_srinivas_formula(step, dim):
    t = step + 1
    beta = 2 * math.log(t ** (dim / 2 + 2) * math.pi**2 / (3 * 0.1))
    got = UCB(schedule="gp-ucb", delta=0.1)(belief([1.0], [0.5], step=step, dim=dim))
    assert got.item() == pytest.approx(1 + math.sqrt(beta) * 0.5)


def test_siblings_rank_points_alike(rng):
    mean, std = torch.randn(100, generator=rng), 0.1 + torch.rand(100, generator=rng)
    b = belief(mean.tolist(), std.tolist(), best=0.5)
    for af in (EI(), PI(0.1)):
        # Near 1 two probabilities may be one number where their logarithms are not.
        in_order = af(b)[0, af.ascent(b)[0].argsort()]
        assert (in_order.diff() >= -1e-15).all()
