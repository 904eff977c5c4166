import pytest
import torch

from metabo.errors import ShapeError
from metabo.gp import GP, Prior, SourcePosteriors, observed_means

MEANS = ["zero", "observed"]


def prior(rows, mean):
    scale = torch.linspace(0.8, 1.2, rows, dtype=torch.float64)
    return Prior(
        scale[:, None] * torch.tensor([[0.3, 0.6]], dtype=torch.float64),
        scale * 1.5,
        scale * 1e-3,
        "matern52",
        mean,
    )


def grown(prior, x, y):
    gp = GP.empty(prior, y.shape[0])
    for t in range(y.shape[1]):
        gp = gp.condition(x.expand(y.shape[0], -1, -1)[:, t], y[:, t])
    return gp


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize(("rows", "inputs"), [(1, 1), (4, 1), (1, 4), (4, 4)])
def test_it_is_the_gp_of_each_data_set(rows, inputs, mean, rng):
    x = torch.rand(inputs, 6, 2, generator=rng, dtype=torch.float64)
    y = torch.randn(4, 6, generator=rng, dtype=torch.float64)
    at = torch.rand(5, 2, generator=rng, dtype=torch.float64)
    models = SourcePosteriors.of(prior(rows, mean), x, y)
    expected_mean, expected_std = grown(prior(rows, mean), x, y).predict(at.expand(4, -1, -1))
    got_mean, got_std = models.predict(at)
    torch.testing.assert_close(got_mean, expected_mean, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(got_std.expand(4, -1), expected_std, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(models.mean(at), got_mean)
    assert models.inverse.shape[0] == max(rows, inputs)


@pytest.mark.parametrize("mean", MEANS)
def test_means_at_the_observed_points_are_the_gps(mean, rng):
    x = torch.rand(3, 6, 2, generator=rng, dtype=torch.float64)
    y = torch.randn(3, 6, generator=rng, dtype=torch.float64)
    for rows in (1, 3):
        expected, _ = grown(prior(rows, mean), x, y).predict(x)
        torch.testing.assert_close(observed_means(prior(rows, mean), x, y), expected)


def test_rows_that_do_not_fit_are_refused(unchecked):
    with pytest.raises(ShapeError, match="one row or one per data set"):
        SourcePosteriors.of(
            prior(2, "zero"), torch.rand(1, 6, 2).double(), torch.rand(3, 6).double()
        )
