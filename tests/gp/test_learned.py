"""The learned part of a prior: interpolation between inducing points, and its groups."""

import pytest
import torch
from learned import cells, data, numerical, prior

from metabo.errors import DataError
from metabo.gp import LearnedPart
from metabo.gp.cells import ONE
from metabo.gp.learned import inverse_covariance


@pytest.mark.parametrize("kernel", ["rbf", "matern52", "matern32"])
def test_the_columns_have_their_values_at_the_inducing_points(kernel):
    draw = torch.Generator().manual_seed(1)
    z = torch.rand(12, 2, generator=draw, dtype=torch.float64)
    values = torch.randn(3, 12, generator=draw, dtype=torch.float64)
    part = LearnedPart.interpolating(
        z, values, kernel=kernel, lengthscale=[0.2, 0.2], cells=cells()
    )
    torch.testing.assert_close(part.columns(z[None])[0], values, atol=1e-6, rtol=0)


def test_coinciding_inducing_points_are_refused(monkeypatch):
    monkeypatch.setattr("metabo.gp.learned.INTERPOLATION_JITTER", 0.0)
    z = torch.full((5, 1), 0.5, dtype=torch.float64)
    values = torch.ones(1, 5, dtype=torch.float64)
    with pytest.raises(DataError, match="too many of them coincide"):
        LearnedPart.interpolating(z, values, kernel="rbf", lengthscale=[0.3], cells=cells())


def test_points_that_episodes_share_have_the_same_columns():
    part = prior().learned
    x = data(1)[0]
    shared, copies = x.expand(4, -1, -1), x.repeat(4, 1, 1)
    torch.testing.assert_close(part.columns(shared), part.columns(copies), atol=0, rtol=0)


@pytest.mark.parametrize("kernel", ["rbf", "matern52", "matern32"])
def test_the_pullback_of_the_columns_is_their_derivative(kernel):
    part = prior(kernel).learned
    x = data()[0]
    columns, pullback = part.columns_with_pullback(x)
    d_columns = torch.randn_like(columns)

    def total(x):
        return (part.columns(x) * d_columns).sum()

    torch.testing.assert_close(pullback(d_columns), numerical(total, x), atol=1e-5, rtol=1e-5)


def test_all_sources_together_are_the_first_group():
    part = prior().learned
    assert torch.equal(part.centre[0], torch.zeros(3).double())
    assert torch.equal(part.covariance[0], torch.eye(3).double())
    spread = part.groups.spread[1]
    torch.testing.assert_close(part.covariance[2], spread @ spread.mT)


def test_far_from_the_points_the_mean_is_the_likeliest_constant():
    z = 0.1 * torch.rand(20, 2, generator=torch.Generator().manual_seed(0)).double()
    values = torch.stack([5 + z[:, 0], z[:, 1]])
    part = LearnedPart.interpolating(
        z, values, kernel="matern52", lengthscale=[0.05, 0.05], cells=ONE, has_level=True
    )
    far = part.columns(torch.ones(1, 1, 2).double())[0, :, 0]
    torch.testing.assert_close(far, torch.stack([part.level, 0 * part.level]))
    level = part.level.clone().requires_grad_()
    apart = values[0] - level
    inverse = inverse_covariance(z, "matern52", part.lengthscale)
    (slope,) = torch.autograd.grad(apart @ inverse @ apart, level)
    assert abs(slope) < 1e-6


def test_a_constant_is_constant_everywhere():
    z = torch.rand(9, 2, generator=torch.Generator().manual_seed(0)).double()
    part = LearnedPart.interpolating(
        z,
        torch.full((1, 9), 3.0).double(),
        kernel="rbf",
        lengthscale=[0.1] * 2,
        cells=ONE,
        has_level=True,
    )
    x = torch.rand(1, 50, 2, generator=torch.Generator().manual_seed(1)).double()
    torch.testing.assert_close(part.columns(x), torch.full((1, 1, 50), 3.0).double())


def test_promising_points_are_the_best_ones_of_every_group():
    part = prior().learned
    values = part.columns(part.z[None])[0]
    for centre in part.centre:
        best = part.z[(values[0] + centre @ values[1:]).argmax()]
        assert (part.promising == best).all(-1).any()
    assert len(part.promising.unique(dim=0)) == len(part.promising) <= 64
