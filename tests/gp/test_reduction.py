import math

import pytest
import torch

from metabo.domain import sobol
from metabo.gp import GP, fitted_prior, reduction, standardized
from metabo.gp.reduction import MOST_FITTED, MOST_SEEN, reduced, representatives, to_fit


def data(rng, episodes, t, dim):
    """What a run leaves behind: points everywhere, and half of them around an optimum."""
    x = torch.rand(episodes, t, dim, generator=rng, dtype=torch.float64)
    x[:, t // 2 :] = 0.4 + 0.05 * (x[:, t // 2 :] - 0.5)
    return x, -(x - 0.4).square().sum(-1) + 0.1 * (9 * x).cos().sum(-1)


def test_up_to_the_limit_nothing_is_left_out(rng):
    x, y = data(rng, 1, MOST_SEEN, 2)
    seen = reduced(fitted_prior(x[:, :50], y[:, :50]), x, y)
    assert seen[0] is x
    assert seen[1] is y
    few = x[:, :MOST_FITTED], y[:, :MOST_FITTED]
    assert to_fit(*few, least=3)[0] is few[0]


@pytest.mark.parametrize(("t", "n", "dim"), [(60, 20, 3), (61, 21, 1), (30, 29, 12), (50, 2, 2)])
def test_the_best_its_neighbours_and_a_spread_of_the_rest_are_kept(t, n, dim, rng):
    x, y = data(rng, 4, t, dim)
    for e, index in enumerate(representatives(x, y, n)):
        assert index.tolist() == sorted(set(index.tolist()))
        assert len(index) == n
        distance = torch.cdist(x[e], x[e])
        best = int(y[e].argmax())
        nearest = distance[best].argsort()[: math.ceil(n / 2)]
        assert set(nearest.tolist()) <= set(index.tolist())
        spread = [i for i in index.tolist() if i not in nearest.tolist()] + [best]
        # Gonzalez (1985): no observation is further from the chosen than these from one another.
        apart = distance[spread][:, spread] + 10 * torch.eye(len(spread))
        covering = distance[:, index].amin(-1).max()
        assert covering <= apart.min() * (1 + 1e-9)


def test_distances_are_in_lengthscales(rng):
    x, y = data(rng, 1, MOST_SEEN + 200, 2)
    prior = fitted_prior(x[:, :50], y[:, :50])
    prior.lengthscale[:] = torch.tensor(
        [[1e-3, 1e3]], dtype=torch.float64
    )  # only the first counts
    seen, _ = reduced(prior, x, y)
    best = x[0, y[0].argmax()]
    nearest = x[0][(x[0, :, 0] - best[0]).abs().argsort()[: MOST_SEEN // 2]]
    kept = {tuple(point) for point in seen[0].tolist()}
    assert {tuple(point) for point in nearest.tolist()} <= kept


def test_batched_is_a_loop_over_singles(rng):
    x, y = data(rng, 5, 80, 3)
    together = representatives(x, y, 30)
    for e in range(5):
        assert torch.equal(together[e : e + 1], representatives(x[e : e + 1], y[e : e + 1], 30))


def test_repeated_points_and_equal_values_are_no_obstacle():
    x = torch.full((1, 40, 2), 0.3, dtype=torch.float64)
    index = representatives(x, torch.zeros(1, 40, dtype=torch.float64), 10)
    assert len(set(index[0].tolist())) == 10


def test_many_dimensions_are_fitted_to_no_fewer_than_they_need(rng):
    x = torch.rand(1, 420, 400, generator=rng, dtype=torch.float64)
    assert to_fit(x, x.sum(-1), least=401)[0].shape == (1, 401, 400)


def test_lengthscales_fitted_to_a_part_are_about_those_fitted_to_all(rng, monkeypatch):
    x = torch.rand(1, 400, 2, generator=rng, dtype=torch.float64)
    y = standardized((6 * x[..., 0]).sin() + 0.3 * (3 * x[..., 1]).cos())
    part = fitted_prior(x, y)
    monkeypatch.setattr(reduction, "MOST_FITTED", 400)
    ratio = part.lengthscale / fitted_prior(x, y).lengthscale
    assert not torch.equal(ratio, torch.ones_like(ratio))
    assert (ratio.log().abs() < math.log(1.5)).all()


def test_the_reduced_gp_predicts_as_the_exact_one_where_it_matters(rng, monkeypatch):
    x, y = data(rng, 1, 400, 2)
    y = standardized(y)
    prior = fitted_prior(x[:, ::4], y[:, ::4])
    monkeypatch.setattr(reduction, "MOST_SEEN", 100)
    exact, few = GP.of(prior, x, y), GP.of(prior, *reduced(prior, x, y))
    assert few.x.shape == (1, 100, 2)
    best = x[0, y[0].argmax()]
    around = (best + 0.02 * (sobol(64, 2) - 0.5)).clamp(0, 1)[None]
    assert (exact.predict(around)[0] - few.predict(around)[0]).abs().max() < 1e-3
    everywhere = sobol(256, 2)[None]
    error = exact.predict(everywhere)[0] - few.predict(everywhere)[0]
    assert error.square().mean().sqrt() < 0.05  # of values with deviation 1
