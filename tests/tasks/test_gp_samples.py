import pytest
import torch

import metabo
from metabo.domain import sobol
from metabo.errors import DataError, OptionError
from metabo.gp.kernels import correlation
from metabo.loop import rollout
from metabo.policies import Maximize, Scatter
from metabo.seeding import generator
from metabo.tasks import TasksWithPrior
from metabo.tasks.fourier import FourierSum
from metabo.tasks.maximum import Effort, global_maximum

KERNELS = ("rbf", "matern52")


def draws(name, n=3, stream="test tasks"):
    return metabo.family(name).sample(n, generator(0, stream))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 3])
def test_the_covariance_of_10000_draws_is_the_kernel(kernel, dim):
    n, points, scale = 10_000, sobol(8, dim), 0.3
    values = []
    for part in torch.arange(n).split(1000):
        lengthscale = torch.full((len(part),), scale, dtype=torch.float64)
        waves = FourierSum.draw(kernel, lengthscale, part, dim=dim, n_waves=64)
        values.append(waves(points.expand(len(part), -1, -1)))
    y = torch.cat(values)
    expected = correlation(kernel, points, points, torch.full((dim,), scale, dtype=torch.float64))
    products = y.unsqueeze(-1) * y.unsqueeze(-2)  # n 8 8
    error = (products.mean(0) - expected) / (products.std(0) / n**0.5)
    # 36 different entries: 4 standard errors are exceeded once in 400 such tests.
    assert error.abs().amax() < 4
    assert (y.mean(0) * n**0.5).abs().amax() < 4


def test_a_chi_square_for_every_axis_would_be_told_apart():
    """It gives the product of kernels along the axes, which errs by more than four errors."""
    points, scale = sobol(8, 3), torch.full((3,), 0.3, dtype=torch.float64)
    axes = [points[:, d : d + 1] for d in range(3)]
    along = [correlation("matern52", axis, axis, scale[:1]) for axis in axes]
    wrong = along[0] * along[1] * along[2]
    assert (wrong - correlation("matern52", points, points, scale)).abs().amax() > 0.05


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_and_sums_are_those_of_the_function(kernel):
    tasks = draws(f"gp-{kernel}")
    x = sobol(5, 3).expand(3, -1, -1).clone().requires_grad_()
    value = tasks(x)
    (gradient,) = torch.autograd.grad(value.sum(), x)
    mine, slope = tasks.waves.with_gradient(x.detach())
    torch.testing.assert_close(mine, value.detach())
    torch.testing.assert_close(slope, gradient)
    left, right = sobol(4, 3), 0.1 * sobol(6, 3)
    sums = (left[:, None] + right).flatten(0, 1).expand(3, -1, -1)
    torch.testing.assert_close(tasks.waves.on_sums(left, right).flatten(1), tasks(sums))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gp-rbf:dim=1", "gp-rbf", "gp-matern52:dim=2"])
def test_the_optimum_is_a_value_that_no_point_exceeds(name):
    family = metabo.family(name)
    tasks = draws(name, 10)
    torch.testing.assert_close(tasks(tasks.argmax[:, None])[:, 0], tasks.optimum)
    values = tasks(sobol(20_000, family.domain.dim).expand(10, -1, -1))
    assert (values <= tasks.optimum[:, None]).all()


def test_a_harder_search_finds_nothing_higher_on_a_line():
    tasks = draws("gp-matern52:dim=1", 20)
    hard = Effort(side=256, pool=1024, starts=64, finishers=16)
    _, value = global_maximum(tasks.waves, tasks.lengthscale, hard)
    torch.testing.assert_close(value, tasks.optimum, rtol=0, atol=1e-9)


def test_each_task_brings_the_prior_it_was_drawn_from():
    tasks = draws("gp-matern52:dim=4:lengthscale=0.1..0.2:noise=0.1", 5)
    assert isinstance(tasks, TasksWithPrior)
    assert tasks.prior.kernel == "matern52"
    assert tasks.prior.lengthscale.shape == (5, 4)
    assert torch.equal(tasks.prior.lengthscale[:, 0], tasks.lengthscale)
    assert ((tasks.lengthscale >= 0.1) & (tasks.lengthscale <= 0.2)).all()
    torch.testing.assert_close(
        tasks.prior.noise_variance, torch.full((5,), 0.01, dtype=torch.float64)
    )


def test_runs_model_each_task_with_its_own_lengthscale():
    family, tasks = metabo.family("gp-rbf"), draws("gp-rbf", 2)
    seen = []

    def af(belief):
        seen.append(belief)
        return belief.std

    rollout(Maximize(af, Scatter(n_global=20)), tasks, family, seed=0, budget=2)
    cross = correlation("rbf", seen[-1].history.x, seen[-1].x, tasks.prior.lengthscale)[:, 0]
    torch.testing.assert_close(seen[-1].std, (1 - cross.square() / (1 + 1e-8)).sqrt())


def test_a_task_file_names_lengthscale_and_seed():
    family = metabo.family("gp-rbf:dim=2")
    (scale, seed) = 0.2, 7
    one, same = (family.read([{"lengthscale": scale, "seed": seed}]) for _ in range(2))
    x = sobol(5, 2)[None]
    assert torch.equal(one(x), same(x))
    assert not torch.equal(one(x), family.read([{"lengthscale": scale, "seed": 8}])(x))
    with pytest.raises(DataError, match=r"`seed` in Task 0 must be a finite number in \[0, "):
        family.read([{"lengthscale": scale, "seed": -1}])


def test_a_number_of_dimensions_out_of_range_is_refused():
    with pytest.raises(OptionError, match=r"`dim` must be a whole number in 1..20, but got 0"):
        metabo.family("gp-rbf:dim=0")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gp-rbf:dim=1", "gp-matern52:dim=2", "gp-matern52:dim=4"])
def test_no_method_finds_more_than_the_optimum(name):
    run = metabo.evaluate(name, methods=["ei", "ucb"], tasks=20, budget=20)
    assert min(result.regret.min() for result in run.methods.values()) > -1e-6
