"""A prior with a learned part: interpolation, posteriors of the cells, and their mixture."""

from dataclasses import replace

import pytest
import torch

from metabo.errors import DataError
from metabo.gp import GP, Cells, LearnedGP, LearnedPart, Prior, plain_log_evidence, predict_both
from metabo.gp.kernels import correlation


def _double(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def _cells(log_plain=-1.0):
    shares = _double(1e-4, 1e-2, 0.1)
    weights = _double(-0.7, -1.5, -2.0)
    plain = torch.tensor(log_plain, dtype=torch.float64)
    return Cells(
        shares, _double(1.0, 0.5, 2.0), _double(0.0, 0.3, 0.1), _double(1, 1, 1), weights, plain
    )


def _prior(kernel="rbf", mean="zero", log_plain=-1.0):
    draw = torch.Generator().manual_seed(3)
    z = torch.rand(30, 2, generator=draw, dtype=torch.float64)
    values = 0.5 * torch.randn(4, 30, generator=draw, dtype=torch.float64)
    part = LearnedPart.interpolating(
        z, values, kernel=kernel, lengthscale=[0.3, 0.2], cells=_cells(log_plain)
    )
    plain = Prior.of(
        [0.4, 0.3], signal_variance=1.3, noise_variance=1e-4, kernel=kernel, mean=mean
    )
    return replace(plain, learned=part)


def _data(episodes=3, t=6, seed=0):
    draw = torch.Generator().manual_seed(seed)
    x = torch.rand(episodes, t, 2, generator=draw, dtype=torch.float64)
    return x, torch.randn(episodes, t, generator=draw, dtype=torch.float64)


@pytest.mark.parametrize("kernel", ["rbf", "matern52", "matern32"])
def test_the_columns_have_their_values_at_the_inducing_points(kernel):
    draw = torch.Generator().manual_seed(1)
    z = torch.rand(12, 2, generator=draw, dtype=torch.float64)
    values = torch.randn(3, 12, generator=draw, dtype=torch.float64)
    part = LearnedPart.interpolating(
        z, values, kernel=kernel, lengthscale=[0.2, 0.2], cells=_cells()
    )
    torch.testing.assert_close(part.columns(z[None])[0], values, atol=1e-6, rtol=0)


def test_coinciding_inducing_points_are_refused(monkeypatch):
    monkeypatch.setattr("metabo.gp.learned.INTERPOLATION_JITTER", 0.0)
    z = torch.full((5, 1), 0.5, dtype=torch.float64)
    values = torch.ones(1, 5, dtype=torch.float64)
    with pytest.raises(DataError, match="too many of them coincide"):
        LearnedPart.interpolating(z, values, kernel="rbf", lengthscale=[0.3], cells=_cells())


def test_points_that_episodes_share_have_the_same_columns():
    part = _prior().learned
    x = _data(1)[0]
    shared, copies = x.expand(4, -1, -1), x.repeat(4, 1, 1)
    torch.testing.assert_close(part.columns(shared), part.columns(copies), atol=0, rtol=0)


@pytest.mark.parametrize("kernel", ["rbf", "matern52", "matern32"])
def test_the_pullback_of_the_columns_is_their_derivative(kernel):
    part = _prior(kernel).learned
    x = _data()[0]
    columns, pullback = part.columns_with_pullback(x)
    d_columns = torch.randn_like(columns)

    def total(x):
        return (part.columns(x) * d_columns).sum()

    torch.testing.assert_close(pullback(d_columns), _numerical(total, x), atol=1e-5, rtol=1e-5)


def _numerical(function, x, eps=1e-6):
    slope = torch.zeros_like(x)
    for index in torch.cartesian_prod(*(torch.arange(n) for n in x.shape)):
        step = torch.zeros_like(x)
        step[tuple(index)] = eps
        slope[tuple(index)] = (function(x + step) - function(x - step)) / (2 * eps)
    return slope


def _dense(prior, cell, x, y, at):
    """Posterior mean and variance, and log evidence, written out with dense matrices."""
    part, cells = prior.learned, prior.learned.cells
    scale, offset = cells.scale[cell], cells.offset_variance[cell]

    def moments(a, b):
        phi_a, phi_b = part.columns(a[None])[0], part.columns(b[None])[0]
        k = correlation(prior.kernel, a, b, prior.lengthscale[0])
        inner = phi_a[1:].mT @ phi_b[1:] + cells.share[cell] * prior.signal_variance * k
        return scale**2 * inner + offset, scale * phi_b[0]

    own = moments(x, x)[0] + cells.noise_share[cell] * prior.diagonal * torch.eye(len(x)).double()
    cross, mean = moments(x, at)
    rest = y - moments(x, x)[1]
    solved = torch.linalg.solve(own, cross)
    variance = moments(at, at)[0].diagonal() - (cross * solved).sum(0)
    normal = torch.distributions.MultivariateNormal(torch.zeros_like(y), own)
    constant = 0.5 * len(y) * torch.log(torch.tensor(2 * torch.pi))
    return mean + rest @ solved, variance, normal.log_prob(rest) + constant


def test_every_cell_is_a_gaussian_process():
    prior, (x, y) = _prior(), _data()
    at = _data(t=4, seed=5)[0]
    gp = LearnedGP.of(prior, x, y)
    mean, variance, _ = gp.predict_with_pullback(at)
    for episode in range(3):
        for cell in range(3):
            expected = _dense(prior, cell, x[episode], y[episode], at[episode])
            given = mean[episode, cell], variance[episode, cell], gp.log_evidence[episode, cell]
            for one, other in zip(given, expected, strict=True):
                torch.testing.assert_close(one, other, atol=1e-7, rtol=1e-7)


def test_growing_by_rows_agrees_with_one_factorization():
    prior, (x, y) = _prior(), _data()
    grown = LearnedGP.empty(prior, 3)
    for t in range(x.shape[1]):
        grown = grown.condition(x[:, t], y[:, t])
    whole = LearnedGP.of(prior, x, y)
    at = _data(t=4, seed=5)[0]
    for one, other in zip(
        grown.predict_with_pullback(at)[:2], whole.predict_with_pullback(at)[:2], strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-9, rtol=1e-9)
    torch.testing.assert_close(grown.log_evidence, whole.log_evidence, atol=1e-8, rtol=1e-8)


def test_an_episode_does_not_depend_on_the_others():
    prior, (x, y) = _prior(), _data(5)
    at = _data(5, t=4, seed=5)[0]
    together = LearnedGP.of(prior, x, y).predict_with_pullback(at)[:2]
    alone = LearnedGP.of(prior, x[2:3], y[2:3]).predict_with_pullback(at[2:3])[:2]
    for one, other in zip(together, alone, strict=True):
        assert torch.equal(one[2:3], other)


@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_the_pullback_of_both_views_is_their_derivative(mean):
    prior, (x, y) = _prior(mean=mean), _data()
    plain, learned = GP.of(prior, x, y), LearnedGP.of(prior, x, y)
    weights = learned.probabilities(plain)
    at = _data(t=3, seed=5)[0]
    views, pullback = predict_both(plain, learned, weights, at)
    names = ("mean", "std", "learned_mean", "learned_std")
    slopes = [torch.randn_like(views.mean) for _ in names]

    def total(at):
        seen = predict_both(plain, learned, weights, at)[0]
        return sum((d * getattr(seen, n)).sum() for d, n in zip(slopes, names, strict=True))

    torch.testing.assert_close(pullback(*slopes), _numerical(total, at), atol=1e-5, rtol=1e-5)


def test_the_learned_view_has_the_moments_of_the_mixture():
    prior, (x, y) = _prior(), _data()
    plain, learned = GP.of(prior, x, y), LearnedGP.of(prior, x, y)
    weights = torch.full((3, 4), 0.25, dtype=torch.float64)
    at = _data(t=4, seed=5)[0]
    views, _ = predict_both(plain, learned, weights, at)
    means, variances, _ = learned.predict_with_pullback(at)
    means = torch.cat([means, views.mean[:, None]], 1)
    variances = torch.cat([variances, views.std[:, None].square()], 1)
    second = (variances + means.square()).mean(1)
    torch.testing.assert_close(views.learned_mean, means.mean(1))
    torch.testing.assert_close(views.learned_std.square(), second - means.mean(1).square())


def test_a_task_of_the_family_has_little_guard_and_another_has_much():
    prior = _prior()
    draw = torch.Generator().manual_seed(7)
    x = torch.rand(1, 8, 2, generator=draw, dtype=torch.float64)
    columns = prior.learned.columns(x)[0]
    inside = (columns[0] + torch.randn(3, generator=draw).double() @ columns[1:])[None]
    outside = torch.sin(20 * x.sum(-1))
    guards = [
        LearnedGP.of(prior, x, y).probabilities(GP.of(prior, x, y))[0, -1]
        for y in (inside, outside)
    ]
    assert guards[0] < 1e-3
    assert guards[1] > 0.9


def test_without_a_guard_the_plain_prior_has_no_weight():
    prior, (x, y) = _prior(), _data()
    prior = replace(prior, learned=prior.learned.unguarded())
    weights = LearnedGP.of(prior, x, y).probabilities(GP.of(prior, x, y))
    assert weights[:, -1].tolist() == [0.0, 0.0, 0.0]
    torch.testing.assert_close(weights.sum(-1), torch.ones(3).double())


@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_the_plain_evidence_is_that_of_a_normal_distribution(mean):
    prior, (x, y) = replace(_prior(mean=mean), learned=None), _data()
    given = plain_log_evidence(GP.of(prior, x, y))
    k = prior.signal_variance[:, None, None] * correlation(prior.kernel, x, x, prior.lengthscale)
    k = k + prior.diagonal[:, None, None] * torch.eye(x.shape[1]).double()
    if mean == "observed":
        k = k + prior.signal_variance[:, None, None]
    normal = torch.distributions.MultivariateNormal(torch.zeros_like(y), k)
    constant = 0.5 * x.shape[1] * torch.log(torch.tensor(2 * torch.pi).double())
    torch.testing.assert_close(given, normal.log_prob(y) + constant)
