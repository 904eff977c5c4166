import math

import pytest
import torch

from metabo.domain import sobol
from metabo.gp import Prior, default_prior, log_likelihood
from metabo.optimizer.evaluation import Evaluation, model_values
from metabo.optimizer.surrogate import Fitted, Fixed


def test_few_observations_have_the_stated_prior():
    prior, y = Fitted(2).model(sobol(2, 2), [1.0, 3.0])
    assert prior.lengthscale.tolist() == [[0.5, 0.5]]
    assert y == pytest.approx([-1.0, 1.0])


def test_a_fitted_prior_is_likelier_than_the_default_and_does_not_see_the_scale():
    x = sobol(20, 2)
    values = [math.sin(5 * float(a)) + float(b) for a, b in x]
    prior, y = Fitted(2).model(x, values)
    data = x[None], torch.tensor([y], dtype=torch.float64)
    assert log_likelihood(prior, *data) > log_likelihood(default_prior(2), *data) + 1
    assert prior.lengthscale[0, 0] < prior.lengthscale[0, 1]
    again, _ = Fitted(2).model(x, [1e6 + 1e3 * value for value in values])
    torch.testing.assert_close(again.lengthscale, prior.lengthscale, rtol=1e-4, atol=0)


def test_a_fixed_prior_sees_values_as_told():
    prior = default_prior(1)
    assert Fixed(prior, "given").model(sobol(2, 1), [3.0, -7.0]) == (prior, [3.0, -7.0])


def test_priors_survive_their_record():
    prior = Prior.of([0.1, 0.235], signal_variance=1 / 3, noise_variance=8.9e-16, mean="observed")
    again = Prior.read(prior.record())
    assert again.record() == prior.record()
    assert torch.equal(again.lengthscale, prior.lengthscale)


def told(*values):
    return [Evaluation({}, value, ()) for value in values]


def test_failures_are_as_bad_as_the_worst_value():
    assert model_values(told(1.0, None, 4.0, None), "minimize") == [-1.0, -4.0, -4.0, -4.0]
    assert model_values(told(1.0, None, 4.0), "maximize") == [1.0, 1.0, 4.0]
    assert model_values(told(None, None), "minimize") == [0.0, 0.0]
