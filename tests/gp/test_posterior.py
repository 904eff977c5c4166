"""The GP against written-out formulas, GPyTorch and extended precision."""

import gpytorch
import mpmath
import pytest
import torch

import metabo
from metabo.domain import sobol
from metabo.errors import OptionError, ShapeError
from metabo.gp import GP, KERNELS, Prior, fit
from metabo.gp import posterior as module
from metabo.gp.kernels import correlation


def draw(rng, *shape):
    return torch.rand(*shape, generator=rng, dtype=torch.float64)


def random_prior(rng, kernel, mean, noise, episodes, dim):
    return Prior(
        0.1 + draw(rng, episodes, dim),
        0.2 + 2 * draw(rng, episodes),
        noise * (1 + draw(rng, episodes)),
        kernel,
        mean,
    )


def grow(prior, x, y, step=GP.condition):
    gp = GP.empty(prior, x.shape[0])
    for t in range(x.shape[1]):
        gp = step(gp, x[:, t], y[:, t])
    return gp


def written_out(prior, x, y, at):
    """Mean and deviation by the textbook, one LU solve per episode and no shortcuts."""
    means, stds = [], []
    for e in range(x.shape[0]):
        scale = prior.lengthscale.expand(x.shape[0], -1)[e : e + 1]
        s = prior.signal_variance.expand(x.shape[0])[e]
        noise = prior.diagonal.expand(x.shape[0])[e]
        k = s * correlation(prior.kernel, x[e : e + 1], x[e : e + 1], scale)[0]
        a = k + noise * torch.eye(x.shape[1], dtype=k.dtype)
        cross = s * correlation(prior.kernel, x[e : e + 1], at[e : e + 1], scale)[0]
        m = 0.0 if prior.mean == "zero" else y[e].mean()
        means.append(m + cross.T @ torch.linalg.solve(a, y[e] - m))
        stds.append((s - (cross * torch.linalg.solve(a, cross)).sum(0)).sqrt())
    return torch.stack(means), torch.stack(stds)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mean", ["zero", "observed"])
@pytest.mark.parametrize(("episodes", "t"), [(1, 1), (3, 10), (2, 50)])
@pytest.mark.parametrize("noise", [1e-4, 1e-2])
def test_one_row_at_a_time_is_the_written_out_formula(kernel, mean, episodes, t, noise, rng):
    for dim in (1, 3):
        prior = random_prior(rng, kernel, mean, noise, episodes, dim)
        x, at = draw(rng, episodes, t, dim), draw(rng, episodes, 40, dim)
        y = 3 * draw(rng, episodes, t) - 1
        got = grow(prior, x, y).predict(at)
        for ours, theirs in zip(got, written_out(prior, x, y, at), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_prediction_is_gpytorchs(kernel, rng):
    prior = random_prior(rng, kernel, "zero", 1e-3, 1, 2)
    x, y, at = draw(rng, 1, 50, 2), draw(rng, 1, 50), draw(rng, 1, 30, 2)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(x[0], y[0], likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            nu = {"rbf": None, "matern52": 2.5, "matern32": 1.5}[kernel]
            base = (
                gpytorch.kernels.MaternKernel(nu, ard_num_dims=2)
                if nu
                else gpytorch.kernels.RBFKernel(ard_num_dims=2)
            )
            self.covar_module = gpytorch.kernels.ScaleKernel(base)

        def forward(self, points):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(points), self.covar_module(points)
            )

    model = Model(gpytorch.likelihoods.GaussianLikelihood()).double()
    model.covar_module.base_kernel.lengthscale = prior.lengthscale
    model.covar_module.outputscale = prior.signal_variance
    model.likelihood.noise = prior.diagonal
    model.eval()
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
        theirs = model(at[0])
        mean, std = grow(prior, x, y).predict(at)
    torch.testing.assert_close(mean[0], theirs.mean, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(std[0], theirs.variance.sqrt(), rtol=1e-8, atol=1e-8)


def in_sixty_digits(prior, x, y, at):
    """Mean and deviation with mpmath: what exact arithmetic gives for these very numbers."""
    mpmath.mp.dps = 60
    scale = [mpmath.mpf(v) for v in prior.lengthscale[0].tolist()]
    s, diagonal = mpmath.mpf(prior.signal_variance.item()), mpmath.mpf(prior.diagonal.item())

    def k(a, b):
        r2 = sum(
            ((mpmath.mpf(p) - mpmath.mpf(q)) / w) ** 2 for p, q, w in zip(a, b, scale, strict=True)
        )
        return s * mpmath.exp(-r2 / 2)

    points = x.tolist()
    n = len(points)
    a = mpmath.matrix(n, n)
    for i in range(n):
        for j in range(n):
            a[i, j] = k(points[i], points[j]) + diagonal * (i == j)
    factor = mpmath.cholesky(a)

    def forward(right):
        out = []
        for i in range(n):
            out.append((right[i] - sum(factor[i, j] * out[j] for j in range(i))) / factor[i, i])
        return out

    white = forward([mpmath.mpf(v) for v in y.tolist()])
    means, stds = [], []
    for point in at.tolist():
        v = forward([k(p, point) for p in points])
        means.append(float(sum(p * q for p, q in zip(v, white, strict=True))))
        stds.append(float(mpmath.sqrt(s - sum(p * p for p in v))))
    return torch.tensor([means, stds], dtype=torch.float64)


@pytest.mark.parametrize("name", ["branin", "goldstein-price", "hartmann-3"])
def test_published_priors_agree_with_extended_precision(name, rng):
    family = metabo.family(name)
    prior, dim = family.prior, family.domain.dim
    # What a run leaves behind: scattered queries first, then ever closer ones around an optimum.
    spread = sobol(25, dim)
    cluster = 0.5 + (draw(rng, 25, dim) - 0.5) * torch.logspace(-1, -9, 25).double()[:, None]
    x = torch.cat([spread, cluster])
    tasks = family.read([{"translation": [0.0] * dim, "scale": 1.0}])
    y = tasks(x[None])[0]
    at = torch.cat([draw(rng, 6, dim), x[::7], x[-3:] + 1e-6, cluster[:2] + 1e-3])
    mean, std = grow(prior, x[None], y[None]).predict(at[None])
    exact_mean, exact_std = in_sixty_digits(prior, x, y, at)
    limit = 1e-7 * prior.signal_variance.sqrt().item()
    assert (mean[0] - exact_mean).abs().max() < limit
    assert (std[0] - exact_std).abs().max() < limit


def hard_cases():
    x = torch.full((1, 200, 2), 0.3, dtype=torch.float64)
    wave = torch.linspace(-1, 1, 200, dtype=torch.float64)[None]
    yield "200 on top of one another", x, torch.zeros(1, 200, dtype=torch.float64)
    yield "200 contradicting one another", x, wave
    yield "nearly on top", x + 1e-9 * torch.arange(200.0).double()[None, :, None], wave
    yield "constant values", sobol(60, 2)[None], torch.ones(1, 60, dtype=torch.float64)
    yield "huge values", sobol(60, 2)[None], 1e8 * wave[:, :60]


@pytest.mark.parametrize(("what", "x", "y"), list(hard_cases()))
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_never_nan(what, x, y, kernel, mean):
    prior = Prior.of(
        [0.2, 0.5], signal_variance=2.0, noise_variance=1e-16, kernel=kernel, mean=mean
    )
    gp = grow(prior, x, y)
    at = torch.cat([x[:, :5], x[:, :5] + 1e-12, sobol(50, 2)[None]], 1).requires_grad_()
    mean_at, std_at = gp.predict(at)
    (mean_at.sum() + std_at.sum()).backward()
    for value in (mean_at, std_at, at.grad):
        assert torch.isfinite(value).all(), what
    assert (std_at > 0).all()
    assert (std_at <= prior.signal_variance.sqrt() * (1 + 1e-9)).all()


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e3, 1e6])
def test_the_gp_interpolates_its_own_fit_at_any_scale_of_the_values(scale):
    x = sobol(60, 2)[None]
    y = scale * (3 * x).sin().sum(-1)
    gp = grow(fit(x, y), x, y)
    at = sobol(200, 2)[None, 60:]
    mean, std = gp.predict(at)
    assert torch.isfinite(std).all()
    torch.testing.assert_close(mean, scale * (3 * at).sin().sum(-1), rtol=0, atol=1e-2 * scale)


@pytest.mark.parametrize(
    "change",
    [
        {"lengthscale": [0.2, float("nan")]},
        {"lengthscale": []},
        {"signal_variance": float("inf")},
        {"signal_variance": 0.0},
        {"noise_variance": float("nan")},
        {"noise_variance": -1.0},
    ],
)
def test_impossible_hyperparameters_are_refused(change):
    good = {"lengthscale": [0.2, 0.2], "signal_variance": 1.0, "noise_variance": 0.0}
    with pytest.raises(OptionError, match="`noise_variance` must not be negative"):
        Prior.of(**(good | change))


def test_unknown_names_are_refused(unchecked):
    numbers = {"signal_variance": 1.0, "noise_variance": 0.0}
    with pytest.raises(OptionError, match=r"Unknown kernel `rbff`. Did you mean `rbf`"):
        Prior.of([0.2], **numbers, kernel="rbff")
    with pytest.raises(OptionError, match="Unknown prior mean `average`"):
        Prior.of([0.2], **numbers, mean="average")


@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_prediction_is_the_same_whether_gradients_are_wanted_or_not(mean, rng):
    prior = random_prior(rng, "matern52", mean, 1e-4, 3, 2)
    gp = grow(prior, draw(rng, 3, 6, 2), draw(rng, 3, 6))
    at = draw(rng, 3, 20, 2)
    with torch.no_grad():
        plain = gp.predict(at)
    for one, other in zip(plain, gp.predict(at.requires_grad_()), strict=True):
        assert not one.requires_grad
        assert other.requires_grad
        assert torch.equal(one, other)


def test_contradicting_observations_are_averaged():
    x = torch.full((1, 2, 1), 0.3, dtype=torch.float64)
    gp = grow(
        Prior.of([0.2], signal_variance=1.0, noise_variance=1e-2),
        x,
        torch.tensor([[0.0, 1.0]], dtype=torch.float64),
    )
    mean, _ = gp.predict(x[:, :1])
    assert mean.item() == pytest.approx(1 / (2 + 1e-2 + 1e-8), rel=1e-10)


@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_the_empty_gp_predicts_zero_and_the_signal_deviation(mean):
    prior = Prior.of([0.2, 0.4], signal_variance=2.25, noise_variance=0.1, mean=mean)
    at = sobol(5, 2).expand(3, -1, -1)
    predicted, std = GP.empty(prior, 3).predict(at)
    assert torch.equal(predicted, torch.zeros(3, 5, dtype=torch.float64))
    assert torch.equal(std, torch.full((3, 5), 1.5, dtype=torch.float64))


def test_far_from_data_the_observed_mean_is_predicted(rng):
    prior = Prior.of([0.01], signal_variance=1.0, noise_variance=1e-6, mean="observed")
    y = draw(rng, 1, 4)
    gp = grow(prior, 0.2 * draw(rng, 1, 4, 1), y)
    predicted, _ = gp.predict(torch.ones(1, 1, 1, dtype=torch.float64))
    assert predicted.item() == pytest.approx(y.mean().item(), abs=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_finite_differences(kernel, rng):
    prior = random_prior(rng, kernel, "observed", 1e-3, 2, 2)
    gp = grow(prior, draw(rng, 2, 8, 2), draw(rng, 2, 8))
    at = draw(rng, 2, 4, 2).requires_grad_()
    assert torch.autograd.gradcheck(gp.predict, (at,), atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_batched_is_a_loop_over_singles(kernel, rng):
    prior = random_prior(rng, kernel, "observed", 1e-6, 4, 3)
    x, y, at = draw(rng, 4, 20, 3), draw(rng, 4, 20), draw(rng, 4, 30, 3)
    mean, std = grow(prior, x, y).predict(at)
    for e in range(4):
        one = slice(e, e + 1)
        alone = Prior(
            prior.lengthscale[one],
            prior.signal_variance[one],
            prior.noise_variance[one],
            kernel,
            "observed",
        )
        mean_e, std_e = grow(alone, x[one], y[one]).predict(at[one])
        torch.testing.assert_close(mean[one], mean_e, rtol=0, atol=1e-9)
        torch.testing.assert_close(std[one], std_e, rtol=0, atol=1e-9)


@pytest.mark.gpu
def test_devices_agree(cuda, rng):
    for name in ("branin", "goldstein-price", "hartmann-3"):
        family = metabo.family(name)
        dim = family.domain.dim
        x, at = draw(rng, 8, 30, dim), draw(rng, 8, 100, dim)
        tasks = family.sample(8, rng)
        here = grow(family.prior, x, tasks(x)).predict(at)
        there = grow(family.prior.to(cuda), x.to(cuda), tasks(x).to(cuda)).predict(at.to(cuda))
        for ours, theirs in zip(here, there, strict=True):
            torch.testing.assert_close(ours, theirs.cpu(), rtol=0, atol=1e-6)


def test_shapes_that_do_not_fit_are_named(unchecked):
    gp = GP.empty(Prior.of([0.2, 0.4], signal_variance=1.0, noise_variance=0.0), 2)
    with pytest.raises(ShapeError, match=r"must end in an axis of size 2 .*\(2, 5, 3\)"):
        gp.predict(torch.zeros(2, 5, 3, dtype=torch.float64))
    for shape in [(3, 5, 2), (2, 2), (2, 2, 2, 2)]:
        with pytest.raises(ShapeError, match=r"must have axes `E N D` with E = 2"):
            gp.predict(torch.zeros(shape, dtype=torch.float64))
    point, value = torch.zeros(2, 2).double(), torch.zeros(2).double()
    for x, y in [(point[:1], value), (point, value[:1]), (point, value[:, None]), (value, value)]:
        with pytest.raises(ShapeError, match="must have axes"):
            gp.condition(x, y)
    with pytest.raises(ShapeError, match=r"one row or one per episode \(2\), but has 3"):
        GP.empty(Prior(torch.ones(3, 1), torch.ones(3), torch.ones(3)), 2)


@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_all_rows_at_once_are_one_row_at_a_time(mean, rng):
    prior = random_prior(rng, "matern52", mean, 1e-4, 2, 3)
    x, y, at = draw(rng, 2, 12, 3), draw(rng, 2, 12), draw(rng, 2, 40, 3)
    at_once, grown = GP.of(prior, x, y).predict(at), grow(prior, x, y).predict(at)
    for ours, theirs in zip(at_once, grown, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-9)


def test_points_that_coincide_are_factored_row_by_row():
    prior = Prior.of([0.5], signal_variance=1e6, noise_variance=0.0)
    x = torch.full((1, 30, 1), 0.3, dtype=torch.float64)
    y = torch.ones(1, 30, dtype=torch.float64)
    mean, std = GP.of(prior, x, y).predict(x[:, :1])
    assert mean.item() == pytest.approx(1.0, abs=1e-6)
    assert torch.isfinite(std).all()


def contradictory(rng, clusters, size, spread):
    """Clusters of near-duplicates whose values have nothing to do with one another."""
    n = clusters * size
    noise = torch.randn(n, 3, generator=rng, dtype=torch.float64)
    x = (draw(rng, clusters, 2).repeat(size, 1) + spread * noise[:, :2]).clamp(0, 1)
    return x, noise[:, 2]


@pytest.mark.parametrize("noise", [1e-9, 1e-11])
@pytest.mark.parametrize("clusters", [1, 3])
@pytest.mark.parametrize("spread", [1e-1, 1e-2, 1e-3])
def test_a_grown_factor_is_as_right_as_one_made_at_once(noise, clusters, spread):
    rng = torch.Generator().manual_seed(3)
    one = torch.ones(1, dtype=torch.float64)
    prior = Prior(one.expand(1, 2) * 0.3, one, noise * one, jitter=0.0)
    x, y = contradictory(rng, clusters, 24 // clusters, spread)
    at = torch.cat([draw(rng, 6, 2), x[:6] + 1e-3])
    exact = in_sixty_digits(prior, x, y, at)[0]

    def error(gp):
        return (gp.predict(at[None])[0][0] - exact).abs().max()

    limit = 2 * error(GP.of(prior, x[None], y[None])) + 1e-5
    assert error(grow(prior, x[None], y[None])) <= limit


def test_without_mending_the_grown_factor_is_far_worse():
    # What the test above would see: else it could pass because its data is too easy.
    one = torch.ones(1, dtype=torch.float64)
    prior = Prior(one.expand(1, 2) * 0.3, one, 1e-11 * one, jitter=0.0)
    rng = torch.Generator().manual_seed(3)
    x, y = contradictory(rng, 1, 24, 1e-2)
    at = torch.cat([draw(rng, 6, 2), x[:6] + 1e-3])
    exact = in_sixty_digits(prior, x, y, at)[0]
    errors = [
        (gp.predict(at[None])[0][0] - exact).abs().max()
        for gp in (grow(prior, x[None], y[None], GP._grown), GP.of(prior, x[None], y[None]))
    ]
    assert errors[0] > 10 * errors[1]


@pytest.mark.parametrize("name", ["branin", "goldstein-price", "hartmann-3"])
def test_smooth_values_keep_the_grown_factor_to_the_bit(name, rng):
    family = metabo.family(name)
    dim = family.domain.dim
    cluster = 0.5 + (draw(rng, 25, dim) - 0.5) * torch.logspace(-1, -9, 25).double()[:, None]
    x = torch.cat([sobol(25, dim), cluster])[None]
    y = family.read([{"translation": [0.0] * dim, "scale": 1.0}])(x)
    mended, grown = grow(family.prior, x, y), grow(family.prior, x, y, GP._grown)
    assert torch.equal(mended.inverse, grown.inverse)
    assert torch.equal(mended.white_y, grown.white_y)
    assert torch.equal(mended.white_1, grown.white_1)


@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_each_episode_is_mended_as_if_alone(mean, rng):
    hard, y_hard = contradictory(rng, 3, 8, 1e-2)
    easy = draw(rng, 24, 2)
    x = torch.stack([easy, hard, easy.flip(0)])
    y = torch.stack([easy.sum(-1), y_hard, easy.flip(0).sum(-1)])
    one = torch.ones(3, dtype=torch.float64)
    prior = Prior(0.3 * one[:, None].expand(3, 2), one, 1e-10 * one, "rbf", mean, 0.0)
    together, plain = grow(prior, x, y), grow(prior, x, y, GP._grown)
    for field in ("inverse", "white_y", "white_1"):
        ours, grown = getattr(together, field), getattr(plain, field)
        assert torch.equal(ours[[0, 2]], grown[[0, 2]])
        assert not torch.equal(ours[1], grown[1])
        rows = torch.tensor([1])
        alone = grow(prior.take(rows), x[rows], y[rows])
        assert torch.equal(ours[rows], getattr(alone, field))


def test_a_captured_graph_looks_at_no_value(monkeypatch, rng):
    x, y = contradictory(rng, 3, 8, 1e-2)
    one = torch.ones(1, dtype=torch.float64)
    prior = Prior(one.expand(1, 2) * 0.3, one, 1e-10 * one, jitter=0.0)
    monkeypatch.setattr(module, "is_capturing", lambda tensor: True)
    captured = grow(prior, x[None], y[None])
    assert torch.equal(captured.inverse, grow(prior, x[None], y[None], GP._grown).inverse)
