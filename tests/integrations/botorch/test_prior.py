"""A learned prior as GPyTorch modules: the posteriors of our own cells, in any BoTorch model."""

from dataclasses import replace

import learned
import pytest
import torch

import metabo
from metabo.errors import DataError, OptionError, ShapeError
from metabo.gp import KERNELS, LearnedGP
from metabo.pretrained import save
from metabo.sources import learned_prior

pytest.importorskip("botorch", reason="needs the extra `botorch`")

from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.settings import fast_computations

from metabo.integrations.botorch import LearnedKernel, LearnedMean, learned_prior_modules

CELLS = range(5)  # two of all sources, three of groups


def small_prior(kernel="rbf", mean="zero"):
    """A prior whose features have another kernel than the residual."""
    return replace(learned.prior(kernel, mean), kernel="matern52")


def draw(rng, *shape):
    return torch.rand(*shape, generator=rng, dtype=torch.float64)


@pytest.fixture(scope="module")
def branin_prior():
    return learned_prior(metabo.family("branin"), 20, 80)


def model_of(modules, x, y):
    mean, covariance = modules.mean, modules.covariance
    options = {"mean_module": mean, "covar_module": covariance, "outcome_transform": None}
    return SingleTaskGP(x, y, likelihood=modules.likelihood(), **options)


def of_our_gp(prior, cell, x, y, at):
    """Posterior mean and variance of a cell in metabo."""
    gp = LearnedGP.empty(prior, 1)
    for t in range(len(x)):
        gp = gp.grown(x[None, t], y[t])
    probabilities = torch.zeros(1, len(prior.learned.cells.share), dtype=torch.float64)
    probabilities[0, cell] = 1
    mean, variance, _ = gp.predict_with_pullback(at[None], gp.weighed(probabilities))
    return mean[0, cell], variance[0]


def require_the_same_posterior(prior, cell, x, y, at):
    with fast_computations(False, False, False):
        model = model_of(learned_prior_modules(prior, cell=cell), x, y)
        one_by_one, together = model.posterior(at[:, None]), model.posterior(at)
        mean, variance = of_our_gp(prior, cell, x, y, at)
        for given in (one_by_one.mean[:, 0, 0], together.mean[:, 0]):
            torch.testing.assert_close(given, mean, atol=1e-8, rtol=0)
        for given in (one_by_one.variance[:, 0, 0], together.variance[:, 0]):
            torch.testing.assert_close(given, variance, atol=1e-8, rtol=0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mean", ["zero", "observed"])
@pytest.mark.parametrize("cell", CELLS)
def test_the_posterior_is_that_of_our_cell(kernel, mean, cell, rng):
    x, y = draw(rng, 7, 2), draw(rng, 7, 1)
    require_the_same_posterior(small_prior(kernel, mean), cell, x, y, draw(rng, 30, 2))


@pytest.mark.parametrize("is_of_group", [False, True])
def test_the_posterior_is_that_of_our_cell_under_a_prior_of_sources(
    branin_prior, is_of_group, rng
):
    cells = branin_prior.learned.cells
    cell = int(cells.group.argmax()) if is_of_group else 0
    assert (int(cells.group[cell]) > 0) == is_of_group
    task = metabo.family("branin").read([{"translation": [0.03, -0.02], "scale": 1.1}])
    x = draw(rng, 6, 2)
    require_the_same_posterior(branin_prior, cell, x, task(x[None])[0][:, None], draw(rng, 30, 2))


def test_the_default_is_the_likeliest_cell_of_all_sources_and_noise_has_our_floor():
    prior, x = small_prior(), torch.tensor([[0.2, 0.4], [0.9, 0.1]], dtype=torch.float64)
    weights = torch.tensor([-3.0, -2.0, -0.5, -1.5, -2.5], dtype=torch.float64)
    cells = replace(prior.learned.cells, log_weight=weights)
    prior = replace(prior, learned=replace(prior.learned, cells=cells))
    default, chosen = learned_prior_modules(prior), learned_prior_modules(prior, cell=1)
    assert default.noise_variance == chosen.noise_variance == float(prior.diagonal)
    assert torch.equal(default.mean(x), chosen.mean(x))
    assert torch.equal(default.covariance(x).to_dense(), chosen.covariance(x).to_dense())
    assert learned_prior_modules(prior, cell=3).noise_variance == 0.5 * float(prior.diagonal)
    exact = replace(prior, noise_variance=torch.zeros_like(prior.noise_variance), jitter=0.0)
    floor = learned_prior_modules(exact, cell=3)
    assert floor.noise_variance == pytest.approx(1.3e-12, rel=1e-12)
    assert float(floor.likelihood().noise) == pytest.approx(1.3e-12, rel=1e-12)


def diagonal(kernel, x):
    return kernel(x).to_dense().diagonal(dim1=-2, dim2=-1)


@pytest.mark.parametrize("cell", CELLS)
def test_batches_of_any_rank_are_those_of_single_inputs(cell, rng):
    mean, kernel = LearnedMean(small_prior(), cell), LearnedKernel(small_prior(), cell)
    x, other = draw(rng, 2, 3, 5, 2), draw(rng, 4, 2)
    assert mean(x).shape == (2, 3, 5)
    together = kernel(x, other).to_dense()
    of_kernels = kernel.expand_batch(torch.Size([2, 3]))
    torch.testing.assert_close(of_kernels(x, other).to_dense(), together)
    for one in (kernel, of_kernels):
        torch.testing.assert_close(one(x, diag=True), diagonal(kernel, x))
    for index in ((0, 1), (1, 2)):
        torch.testing.assert_close(mean(x)[index], mean(x[index]))
        torch.testing.assert_close(together[index], kernel(x[index], other).to_dense())
        of_one = of_kernels[index](x[index], diag=True)
        torch.testing.assert_close(of_one, diagonal(kernel, x[index]))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("cell", CELLS)
def test_gradients_agree_with_finite_differences_even_at_inducing_points(kernel, cell, rng):
    prior = replace(small_prior(kernel), kernel=kernel)
    modules = learned_prior_modules(prior, cell=cell)
    other = draw(rng, 3, 2)
    x = torch.cat([prior.learned.z[:2], other[:1], draw(rng, 1, 2)]).requires_grad_()
    score = LogExpectedImprovement(model_of(modules, draw(rng, 3, 2), draw(rng, 3, 1)), 0.9)
    for function in (
        lambda x: score(x[:, None]),
        modules.mean,
        lambda x: modules.covariance(x, other).to_dense(),
        lambda x: modules.covariance(x).to_dense(),
        lambda x: modules.covariance(x, diag=True),
    ):
        assert torch.autograd.gradcheck(function, (x,), atol=1e-5, rtol=1e-4)


def test_the_best_candidate_of_botorch_is_finite_and_in_the_cube(branin_prior, rng):
    task = metabo.family("branin").read([{"translation": [0.0, 0.0], "scale": 1.0}])
    x = draw(rng, 5, 2)
    y = task(x[None])[0][:, None]
    score = LogExpectedImprovement(model_of(learned_prior_modules(branin_prior), x, y), y.max())
    cube = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    best, value = optimize_acqf(
        score, cube, 1, 3, 32, options={"seed": 0}, retry_on_optimization_warning=False
    )
    assert torch.isfinite(value)
    assert ((best >= 0) & (best <= 1)).all()


def test_there_is_nothing_to_fit_and_the_prior_keeps_its_tensors(rng):
    prior = small_prior()
    modules, x = learned_prior_modules(prior), draw(rng, 3, 2)
    before = prior.learned.z.clone(), prior.lengthscale.clone()
    model = model_of(modules, x, x[:, :1])
    assert not any(p.requires_grad for p in model.parameters())
    assert list(modules.mean.parameters()) == list(modules.covariance.parameters()) == []
    assert modules.covariance(x).dtype == modules.covariance.dtype == torch.float64
    assert modules.covariance.device == torch.device("cpu")
    zeros = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    model.load_state_dict(zeros)
    assert torch.equal(prior.learned.z, before[0])
    assert torch.equal(prior.lengthscale, before[1])


def test_an_artifact_has_the_modules_of_its_prior(tmp_path, rng):
    af, prior, x = metabo.load("branin"), small_prior(), draw(rng, 3, 2)
    path = tmp_path / "af.safetensors"
    save(af, af.card, path, prior.learned)
    expected = learned_prior_modules(replace(af.prior, learned=prior.learned))
    for artifact in (path, str(path), metabo.load(path)):
        modules = learned_prior_modules(artifact)
        assert modules.noise_variance == expected.noise_variance
        assert torch.equal(modules.mean(x), expected.mean(x))
        assert torch.equal(modules.covariance(x).to_dense(), expected.covariance(x).to_dense())


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_a_module_is_refused():
    prior = small_prior()
    with pytest.raises(OptionError, match=r"has no learned part\. Give one from `metabo\.sources"):
        learned_prior_modules(replace(prior, learned=None))
    with pytest.raises(OptionError, match=r"must lie in 0\.\.4 \(the prior's cells\), but is 5"):
        learned_prior_modules(prior, cell=5)
    several = replace(prior, lengthscale=prior.lengthscale.expand(3, -1))
    with pytest.raises(ShapeError, match=r"prior of one episode, but this one has 3 rows"):
        learned_prior_modules(several)
    modules = learned_prior_modules(prior)
    with pytest.raises(ShapeError, match=r"`x` must end in an axis of size 2"):
        modules.mean(torch.zeros(4, 3, dtype=torch.float64))
    with pytest.raises(DataError, match=r"needs float64, but got torch\.float32 points"):
        modules.mean(torch.zeros(4, 2))
    with pytest.raises(OptionError, match=r"has no `last_dim_is_batch`"):
        modules.covariance.forward(*[torch.zeros(4, 2).double()] * 2, last_dim_is_batch=True)
