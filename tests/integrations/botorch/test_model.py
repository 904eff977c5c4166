"""A prior of metabo as a BoTorch model: the posterior of our own GP."""

import pytest
import torch

from metabo.errors import ShapeError
from metabo.gp import GP, KERNELS, Prior

pytest.importorskip("botorch", reason="needs the extra `botorch`")

from metabo.integrations.botorch import prior_model


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mean", ["zero", "observed"])
@pytest.mark.parametrize("n", [0, 1, 12])
def test_the_posterior_is_that_of_our_gp(kernel, mean, n, rng):
    prior = Prior.of([0.3, 0.5], signal_variance=1.7, noise_variance=0.0, kernel=kernel, mean=mean)
    x = torch.rand(1, n, 2, generator=rng, dtype=torch.float64)
    y = 3 + torch.rand(1, n, generator=rng, dtype=torch.float64)
    at = torch.rand(1, 40, 2, generator=rng, dtype=torch.float64)
    gp = GP.empty(prior, 1)
    for t in range(n):
        gp = gp.condition(x[:, t], y[:, t])
    posterior = prior_model(prior, x[0], y[0][:, None]).posterior(at[0][:, None])
    expected_mean, expected_std = gp.predict(at)
    torch.testing.assert_close(posterior.mean[:, 0, 0], expected_mean[0], rtol=1e-6, atol=1e-6)
    std = posterior.variance.sqrt()[:, 0, 0]
    torch.testing.assert_close(std, expected_std[0], rtol=1e-6, atol=1e-7)


@pytest.mark.usefixtures("unchecked")
def test_a_prior_of_several_episodes_or_another_dimension_is_refused():
    one = torch.ones(3, dtype=torch.float64)
    several = Prior(torch.ones(3, 2, dtype=torch.float64), one, one)
    x, y = torch.zeros(4, 2, dtype=torch.float64), torch.zeros(4, 1, dtype=torch.float64)
    with pytest.raises(ShapeError, match=r"prior of one episode, but this one has 3 rows"):
        prior_model(several, x, y)
    single = Prior.of([0.3] * 3, signal_variance=1.0, noise_variance=0.0)
    with pytest.raises(ShapeError, match=r"`x` must end in an axis of size 3"):
        prior_model(single, x, y)
