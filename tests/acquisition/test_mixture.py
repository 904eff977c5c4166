import pytest
import torch
from sklearn.mixture import GaussianMixture

import metabo
from metabo.acquisition import GMMUCB, UCB, Mixture, Schedule
from metabo.acquisition.mixture import REGULARIZATION
from metabo.errors import OptionError
from metabo.seeding import generator
from metabo.sources import source_data
from metabo.state import BOState


def blobs(rng, dim=2):
    centres = torch.rand(3, dim, generator=rng, dtype=torch.float64)
    spread = 0.05 * torch.randn(60, dim, generator=rng, dtype=torch.float64)
    return centres.repeat(20, 1) + spread


def fitted(points, components):
    return Mixture.fit(points, components, generator(0, "mixture"))


def oracle(mixture, points):
    """scikit-learn's mixture, started where ours ended."""
    covariance = mixture.factor @ mixture.factor.mT
    model = GaussianMixture(
        len(mixture.weight),
        weights_init=(mixture.weight / mixture.weight.sum()).numpy(),
        means_init=mixture.mean.numpy(),
        precisions_init=torch.linalg.inv(covariance).numpy(),
        reg_covar=REGULARIZATION,
        tol=1e-12,
    )
    return model.fit(points.numpy())


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("components", [1, 2, 3])
def test_density_and_optimum_are_scikit_learns(components, dim, rng):
    points = blobs(rng, dim)
    mixture = fitted(points, components)
    theirs = oracle(mixture, points)
    torch.testing.assert_close(mixture.mean, torch.from_numpy(theirs.means_), rtol=0, atol=1e-6)
    x = torch.rand(40, dim, generator=rng, dtype=torch.float64)
    expected = torch.from_numpy(theirs.score_samples(x.numpy()))
    torch.testing.assert_close(mixture.log_density(x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_no_start_of_scikit_learn_finds_a_likelier_mixture(rng):
    for name in ("branin", "hartmann-3"):
        points = source_data(metabo.family(name), 50, 100).predicted_best()
        for components in (1, 2, 3):
            ours = fitted(points, components).log_density(points).mean().item()
            theirs = GaussianMixture(
                components, n_init=10, reg_covar=REGULARIZATION, random_state=0
            ).fit(points.numpy())
            assert ours >= theirs.score(points.numpy()) - 0.02


def test_one_component_is_the_normal_distribution_of_the_points(rng):
    points = blobs(rng)
    covariance = torch.cov(points.mT, correction=0) + REGULARIZATION * torch.eye(2).double()
    normal = torch.distributions.MultivariateNormal(points.mean(0), covariance)
    x = torch.rand(3, 4, 2, generator=rng, dtype=torch.float64)
    torch.testing.assert_close(fitted(points, 1).log_density(x), normal.log_prob(x))


def test_repeated_designs_leave_a_density(rng):
    points = torch.rand(4, 2, generator=rng, dtype=torch.float64).repeat(10, 1)
    x = torch.rand(9, 2, generator=rng, dtype=torch.float64)
    assert torch.isfinite(fitted(points, 4).log_density(x)).all()
    with pytest.raises(OptionError, match=r"`components` must lie in 1..4 \(the distinct best"):
        fitted(points, 5)


@pytest.mark.parametrize(
    ("schedule", "shares"), [(Schedule(0.3), [0.3] * 5), (Schedule(), [1, 0.75, 0.5, 0.25, 0])]
)
def test_the_share_follows_its_schedule(schedule, shares, rng):
    family = metabo.family("branin")
    mixture = fitted(blobs(rng), 2)
    state = BOState.start(family.prior, episodes=1, budget=5)
    x = torch.rand(1, 6, 2, generator=rng, dtype=torch.float64)
    for w in shares:
        belief = state.belief(x)
        log_density = mixture.log_density(x)
        for density, prior in (("log", log_density), ("plain", log_density.exp())):
            expected = w * prior + (1 - w) * UCB()(belief)
            got = GMMUCB(mixture, schedule, density)(belief)
            torch.testing.assert_close(got, expected)
        state = state.observe(x[:, 0], torch.ones(1, dtype=torch.float64))


def test_a_run_of_one_evaluation_has_a_linear_schedule_too():
    one = torch.tensor(1)
    assert Schedule().at(one - 1, one) == 1


@pytest.mark.parametrize("value", ["1.1", "-0.1", "nan", "steep", True, None, [1]])
def test_shares_outside_their_range_are_refused(value):
    with pytest.raises((ValueError, TypeError)):
        Schedule.read(value)
    assert Schedule.read("linear") == Schedule()
    assert Schedule.read(0.5) == Schedule.read("0.5") == Schedule(0.5)
    with pytest.raises(OptionError, match=r"a number in 0..1 or `linear`, but got 2"):
        Schedule(2.0)
