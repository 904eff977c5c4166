import math

import pytest
import torch

from metabo.domain import sobol
from metabo.gp import HyperPrior, default_prior, fit, fitted_prior, least_to_fit, standardized


def values_of(x):
    return (4 * x[..., 0]).sin() + x[..., 1].square()


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_standardized_values_have_mean_0_and_deviation_1(scale):
    y = standardized(scale * torch.tensor([[1.0, 2.0, 5.0, 0.5]], dtype=torch.float64))
    assert float(y.mean()) == pytest.approx(0, abs=1e-12)
    assert float(y.std(correction=0)) == pytest.approx(1)
    assert y[0].argsort().tolist() == [3, 0, 1, 2]


def test_values_without_spread_are_zero():
    assert standardized(torch.zeros(2, 0).double()).shape == (2, 0)
    for value in (0.0, 0.1):
        assert not standardized(torch.full((2, 7), value, dtype=torch.float64)).any()


def test_the_same_function_in_another_unit_is_the_same_to_the_bit():
    y = values_of(sobol(50, 2))[None]
    assert torch.equal(standardized(y), standardized(1000 * y + 5))


def test_batched_is_a_loop_over_singles():
    x = torch.stack([sobol(10, 2), sobol(20, 2)[10:]])
    y = standardized(values_of(x))
    both = fitted_prior(x, y)
    for e in range(2):
        alone = fitted_prior(x[e : e + 1], y[e : e + 1])
        torch.testing.assert_close(
            alone.lengthscale, both.lengthscale[e : e + 1], rtol=1e-3, atol=0
        )


def test_before_there_are_a_few_observations_the_default_is_assumed():
    x, y = sobol(2, 2)[None], torch.tensor([[-1.0, 1.0]], dtype=torch.float64)
    assert least_to_fit(2) == 3
    assert fitted_prior(x, y).record() == default_prior(2).record()


def test_the_density_is_that_of_log_normal_distributions():
    prior = HyperPrior.usual(3)
    theta = torch.linspace(-3, 2, 10, dtype=torch.float64).view(1, 2, 5).requires_grad_()
    value, slope = prior(theta)
    (expected,) = torch.autograd.grad(value.sum(), theta)
    torch.testing.assert_close(slope, expected)
    parts = [prior.lengthscale] * 3 + [prior.signal, prior.noise]
    oracle = sum(
        torch.distributions.LogNormal(part.location, part.scale).log_prob(theta[..., p].exp())
        for p, part in enumerate(parts)
    )
    difference = oracle - value
    torch.testing.assert_close(difference, difference[:, :1].expand(-1, 2))


def test_the_lengthscales_are_botorchs():
    botorch = pytest.importorskip("botorch.models.utils.gpytorch_modules")
    theirs = botorch.get_covar_module_with_dim_scaled_prior(ard_num_dims=4).lengthscale_prior
    ours = HyperPrior.usual(4).lengthscale
    assert float(theirs.loc) == pytest.approx(ours.location, rel=1e-6)
    assert float(theirs.scale) == pytest.approx(ours.scale, rel=1e-6)


def test_where_data_says_little_the_density_decides_and_where_it_says_much_the_data():
    x = sobol(20, 2)
    ends = []
    for n in (5, 20):
        y = standardized((9 * x[:n]).sin().sum(-1)[None])
        free, held = fit(x[None, :n], y, kernel="matern52"), fitted_prior(x[None, :n], y)
        ends.append((free.lengthscale / held.lengthscale).log().abs().amax())
    assert ends[1] < math.log(2) < math.log(4) < ends[0]
