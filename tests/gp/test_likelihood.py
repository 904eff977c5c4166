import math

import gpytorch
import pytest
import torch

from metabo.ascent import differentiated
from metabo.gp import KERNELS, Likelihood, Prior, log_likelihood
from metabo.gp import likelihood as module


def draw(rng, *shape):
    return torch.rand(*shape, generator=rng, dtype=torch.float64)


def test_log_likelihood_is_gpytorchs(rng):
    x, y = draw(rng, 1, 30, 2), draw(rng, 1, 30)
    prior = Prior.of([0.3, 0.6], signal_variance=1.7, noise_variance=1e-2)
    covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=2)).double()
    covariance.base_kernel.lengthscale, covariance.outputscale = prior.lengthscale, 1.7
    with torch.no_grad():
        full = covariance(x[0]).to_dense() + prior.diagonal * torch.eye(30, dtype=torch.float64)
        theirs = torch.distributions.MultivariateNormal(torch.zeros(30).double(), full)
        assert log_likelihood(prior, x, y).item() == pytest.approx(
            theirs.log_prob(y[0]).item(), rel=1e-8
        )


def problem(rng, kernel, jitter=1e-8):
    x, y = draw(rng, 2, 9, 3), draw(rng, 2, 9)
    theta = (draw(rng, 2, 4, 5) - 0.5) * 2
    return x, y, theta, Likelihood(x, y, kernel, jitter)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_rows_are_the_likelihoods_of_priors(rng, kernel):
    x, y, theta, likelihood = problem(rng, kernel)
    value, _ = likelihood(theta)
    for e in range(2):
        for s in range(4):
            numbers = theta[e, s].exp()
            prior = Prior(numbers[None, :3], numbers[3:4], numbers[4:], kernel)
            expected = log_likelihood(prior, x[e : e + 1], y[e : e + 1])
            torch.testing.assert_close(value[e, s], expected[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("shift", [0.0, 25.0])
def test_the_gradient_is_autograds(rng, kernel, shift):
    """With the shift, noise and jitter are nothing beside the signal's floor."""
    x, y, theta, likelihood = problem(rng, kernel)
    theta[..., 3] += shift
    theta[..., 4] -= 4 * shift

    def value(theta):
        rows = theta.flatten(0, 1).exp()
        prior = Prior(rows[:, :3], rows[:, 3], rows[:, 4], kernel)
        return log_likelihood(prior, x.repeat_interleave(4, 0), y.repeat_interleave(4, 0))

    _, expected = differentiated(value)(theta)
    _, gradient = likelihood(theta)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-6)


def test_what_cannot_be_computed_is_minus_infinity(rng):
    x, y, theta, _ = problem(rng, "rbf")
    theta[0, 0, :3] = 400.0  # all points coincide
    theta[0, 0, 3:] = math.inf
    value, _ = Likelihood(x, y, "rbf", 0.0)(theta)
    assert value[0, 0] == -math.inf
    assert torch.isfinite(value[1]).all()


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_many_dimensions_differ_from_few_by_rounding_only(rng, kernel, monkeypatch):
    x, y = draw(rng, 2, 40, 25), draw(rng, 2, 40)
    x[:, 20:] = x[:, :20] + 1e-6 * draw(rng, 2, 20, 25)  # near-duplicates
    theta = (draw(rng, 2, 4, 27) - 0.5) * 2 + 1
    theta[..., -1] -= 12
    found = Likelihood(x, y, kernel, 1e-8)(theta)
    monkeypatch.setattr(module, "_FEW_DIMENSIONS", 25)
    written_out = Likelihood(x, y, kernel, 1e-8)(theta)
    for ours, theirs in zip(found, written_out, strict=True):
        assert not torch.equal(ours, theirs)
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_values_alone_are_the_values_in_pieces_too(rng, kernel, monkeypatch):
    _, _, theta, likelihood = problem(rng, kernel)
    assert torch.equal(likelihood.values(theta), likelihood(theta)[0])
    monkeypatch.setattr(module, "_PAIRS", 2 * 9 * 9)
    torch.testing.assert_close(likelihood.values(theta), likelihood(theta)[0], rtol=1e-12, atol=0)
