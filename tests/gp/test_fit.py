import pytest
import torch

import metabo
from metabo.domain import sobol
from metabo.errors import DataError, OptionError, ShapeError
from metabo.gp import JITTER, Prior, fit, log_likelihood


def draw(rng, *shape):
    return torch.rand(*shape, generator=rng, dtype=torch.float64)


@pytest.mark.parametrize("name", ["branin", "goldstein-price", "hartmann-3"])
def test_the_fit_is_at_least_as_likely_as_the_published_values(name):
    family = metabo.family(name)
    dim = family.domain.dim
    x = sobol(100, dim)[None]
    y = family.read([{"translation": [0.0] * dim, "scale": 1.0}])(x)
    fitted = fit(x, y)
    assert fitted.jitter == family.prior.jitter == JITTER
    assert log_likelihood(fitted, x, y).item() >= log_likelihood(family.prior, x, y).item()


def test_the_fit_is_at_a_maximum_inside_its_bounds(rng):
    x = draw(rng, 1, 40, 2)
    y = (5 * x).sin().sum(-1) + 0.1 * torch.randn(1, 40, generator=rng, dtype=torch.float64)
    best = fit(x, y)
    value = log_likelihood(best, x, y).item()
    for factor in (0.97, 1.03):
        for name in ("lengthscale", "signal_variance", "noise_variance"):
            fields = {
                n: getattr(best, n) for n in ("lengthscale", "signal_variance", "noise_variance")
            }
            fields[name] = fields[name] * factor
            assert log_likelihood(Prior(**fields), x, y).item() < value + 1e-6
    assert best.noise_variance.item() == pytest.approx(0.01, rel=0.6)


def test_many_data_sets_at_once_are_fitted_as_each_alone(rng):
    x = draw(rng, 3, 25, 2)
    y = torch.stack([(f * x[i]).sin().sum(-1) for i, f in enumerate((2.0, 5.0, 8.0))])
    together = fit(x, y, kernel="matern52", mean="observed")
    for i in range(3):
        alone = fit(x[i : i + 1], y[i : i + 1], kernel="matern52", mean="observed")
        torch.testing.assert_close(
            together.lengthscale[i], alone.lengthscale[0], rtol=1e-3, atol=0
        )
        assert log_likelihood(together, x, y)[i].item() == pytest.approx(
            log_likelihood(alone, x[i : i + 1], y[i : i + 1]).item(), abs=1e-4
        )


def test_scaling_the_values_scales_the_variances(rng):
    x = draw(rng, 1, 30, 1)
    y = (6 * x[..., 0]).sin() + 0.1 * torch.randn(1, 30, generator=rng, dtype=torch.float64)
    small, large = fit(x, y), fit(x, 1e3 * y)
    torch.testing.assert_close(small.lengthscale, large.lengthscale, rtol=1e-3, atol=0)
    torch.testing.assert_close(
        1e6 * small.signal_variance, large.signal_variance, rtol=1e-2, atol=0
    )


@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_constant_values_and_single_points_give_a_finite_prior(mean):
    for n in (1, 12):
        x, y = sobol(n, 2)[None], torch.ones(1, n, dtype=torch.float64)
        prior = fit(x, y, mean=mean)
        for value in (prior.lengthscale, prior.signal_variance, prior.noise_variance):
            assert torch.isfinite(value).all()


def test_bad_data_is_refused(unchecked):
    x = sobol(3, 2)[None]
    with pytest.raises(ShapeError, match=r"at least one observation.*\(1, 3, 2\) and \(1, 2\)"):
        fit(x, torch.zeros(1, 2, dtype=torch.float64))
    with pytest.raises(DataError, match="must be finite"):
        fit(x, torch.full((1, 3), torch.nan, dtype=torch.float64))
    with pytest.raises(DataError, match="must be finite"):
        fit(x * torch.nan, torch.zeros(1, 3, dtype=torch.float64))
    with pytest.raises(OptionError, match="Unknown kernel `foo`"):
        fit(x, torch.zeros(1, 3, dtype=torch.float64), kernel="foo")
