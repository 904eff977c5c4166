"""Where sources are evaluated, and how they are interpolated."""

from dataclasses import dataclass, replace

import pytest
import torch

import metabo
from metabo.acquisition import EI, OnLearned
from metabo.domain import Box, sobol
from metabo.errors import DataError
from metabo.gp import LearnedPart, Prior
from metabo.gp.cells import ONE
from metabo.gp.kernels import correlation
from metabo.policies import Maximize, searcher
from metabo.seeding import Noise, generator
from metabo.sources.interpolation import Interpolation
from metabo.sources.points import _extended, covering, inducing_points
from metabo.sources.shared import learn
from metabo.state import BOState


def error_of(family, x, tasks, checks):
    """Return the root mean square error of the best interpolation from `x`."""
    y, truth = (tasks(at.expand(len(tasks.optimum), -1, -1)) for at in (x, checks))
    return float(
        Interpolation.best(family.prior, x, y, checks, truth).error.square().mean().sqrt()
    )


@pytest.mark.parametrize("name", ["goldstein-price", "hartmann-3"])
def test_points_where_functions_bend_interpolate_better_than_even_ones(name):
    family = metabo.family(name)
    tasks = family.sample(8, generator(0, "test tasks"))
    checks = torch.rand(800, family.domain.dim, generator=generator(1, "checks")).double()
    chosen, _ = inducing_points(family.prior, family.sources(8), 600)
    even, _ = covering(600, family.domain.dim)
    assert error_of(family, chosen, tasks, checks) < 0.75 * error_of(family, even, tasks, checks)


def test_each_point_is_where_the_largest_error_is_left():
    """The factorization with pivots agrees with conditional variances computed at once."""
    pool = sobol(200, 2)
    lengthscale = torch.tensor([[0.4, 0.3]]).double()
    error = torch.rand(200, generator=generator(0, "error")).double()
    by = Interpolation("matern52", lengthscale, error)
    first = torch.arange(10)
    chosen = _extended(first, 16, pool, error, by)

    def variance(known):
        k = correlation("matern52", pool[known], pool[known], lengthscale[0])
        cross = correlation("matern52", pool[known], pool, lengthscale[0])
        return 1 - (cross * torch.linalg.solve(k, cross)).sum(0)

    for n in range(10, 16):
        left = error * (variance(chosen[:n]) / variance(first).clamp_min(1e-9)).sqrt()
        left[chosen[:n]] = 0
        assert int(left.argmax()) == int(chosen[n])


def test_smooth_families_need_fewer_points():
    numbers = {}
    for name in ("branin", "goldstein-price"):
        family = metabo.family(name)
        points, checks = inducing_points(family.prior, family.sources(8))
        numbers[name] = len(points)
        assert not bool((torch.cdist(points, checks) < 1e-9).any())
        assert len(points.unique(dim=0)) == len(points)
    assert numbers["branin"] < numbers["goldstein-price"] <= 800


def test_the_interpolation_with_the_smallest_error_is_chosen():
    prior = Prior.of([0.2, 0.2], signal_variance=1.0, noise_variance=0.0)
    x, checks = covering(100, 2)
    smooth = [(-2 * (at - 0.5).square().sum(-1))[None] for at in (x, checks)]
    found = Interpolation.best(prior, x, smooth[0], checks, smooth[1])
    assert found.kernel == "rbf"
    part = LearnedPart.interpolating(
        x,
        smooth[0],
        kernel="rbf",
        lengthscale=found.lengthscale[0],
        cells=ONE,
        has_level=True,
    )
    wrong = (part.columns(checks[None])[0] - smooth[1])[0].abs()
    rank = (smooth[1].mT < smooth[1]).sum(-1)  # number of higher values
    counted = wrong / (1 + rank / (0.1 * len(checks))).sqrt()
    torch.testing.assert_close(found.error, counted, rtol=1e-3, atol=1e-9)


def test_sources_without_values_are_refused_before_points_are_chosen():
    class Broken:
        optimum = torch.zeros(3).double()

        def __call__(self, x):
            return torch.full_like(x[..., 0], torch.nan)

        def take(self, index):
            return self

        def to(self, device):
            return self

    prior = Prior.of([0.2, 0.2], signal_variance=1.0, noise_variance=0.0)
    with pytest.raises(DataError, match="learned from finite values"):
        inducing_points(prior, Broken(), 50)


@dataclass(frozen=True)
class Plateaus:
    """Functions that are 0 but for a small hill with a steep edge, as a controller's cost is."""

    centre: torch.Tensor

    @property
    def optimum(self):
        return torch.full_like(self.centre[:, 0], 1.0)

    def __call__(self, x):
        r = (x - self.centre[:, None]).norm(dim=-1) / 0.12
        return torch.where(r < 1, 1 - 0.3 * r.square(), 0.0)

    def take(self, index):
        return Plateaus(self.centre[index])

    def to(self, device):
        return self


def plateaus(n, seed):
    draw = torch.rand(n, 3, generator=generator(seed, "centres")).double()
    return Plateaus(0.35 + 0.05 * draw)


def test_many_points_lie_where_sources_are_high_however_small_that_region_is():
    prior = Prior.of([0.2] * 3, signal_variance=0.3, noise_variance=1e-4)
    tasks = plateaus(8, 0)
    for n in (None, 300):
        points, checks = inducing_points(prior, tasks, n)
        even = covering(len(points), 3)[0]
        good, usual = (
            float((tasks(x.expand(8, -1, -1)) > 0).double().mean()) for x in (points, even)
        )
        assert good > 5 * usual
        assert (tasks(checks.expand(8, -1, -1)) > 0).any(-1).all()


def test_the_first_evaluation_is_in_the_region_where_the_sources_are_high():
    prior = Prior.of([0.2] * 3, signal_variance=0.3, noise_variance=1e-4)
    x, checks = inducing_points(prior, plateaus(8, 0), 300)
    sources = plateaus(60, 0)
    y, y_checks = (sources(at.expand(60, -1, -1)) for at in (x, checks))
    part = learn(prior, x, y, checks, y_checks)
    new = plateaus(20, 1)
    policy = Maximize(OnLearned(EI()), searcher("gradient", Box(3)))
    state = BOState.start(replace(prior, learned=part), episodes=20, budget=3)
    query = policy.propose(state, Noise.at(0, episodes=torch.arange(20), step=0)).x
    assert (new(query[:, None]) > 0.7).all()
