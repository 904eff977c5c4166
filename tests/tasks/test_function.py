import pytest
import torch

import metabo
from metabo.errors import DataError, OptionError, ShapeError


def bowl(x, p):
    return p["height"][:, None] - (x - p["place"][:, None, None]).square().sum(-1)


PARAMETERS = {"place": (0.2, 0.8), "height": (-1.0, 1.0)}


@pytest.fixture
def bowls():
    return metabo.function_family("bowls", bowl, dim=2, parameters=PARAMETERS, budget=6)


def test_values_are_the_functions_and_optima_are_found(bowls, rng):
    tasks = bowls.sample(20, rng)
    place, height = tasks.values
    x = torch.rand(20, 5, 2, generator=rng, dtype=torch.float64)
    torch.testing.assert_close(tasks(x), bowl(x, {"place": place, "height": height}))
    torch.testing.assert_close(tasks.optimum, height, rtol=0, atol=1e-10)
    assert torch.equal(tasks.take(torch.tensor([3]))(x[3:4]), tasks(x)[3:4])


@pytest.mark.slow
def test_optima_on_the_border_and_among_many_are_found(rng):
    def waves(x, p):
        return x[..., 0] + (p["rate"][:, None] * x[..., 1]).cos()

    family = metabo.function_family("waves", waves, dim=2, parameters={"rate": (20.0, 60.0)})
    torch.testing.assert_close(
        family.sample(10, rng).optimum, torch.full((10,), 2.0, dtype=torch.float64)
    )


def test_a_known_optimum_is_taken():
    given = metabo.function_family(
        "bowls", bowl, dim=2, parameters=PARAMETERS, optimum=lambda p: p["height"] + 1
    )
    tasks = given.sources(3)
    assert torch.equal(tasks.optimum, tasks.values[1] + 1)


def test_the_prior_is_fitted_to_the_functions(bowls):
    assert bowls.prior.lengthscale.shape == (1, 2)
    assert (bowls.prior.lengthscale > 0.5).all()  # bowls are smooth
    assert bowls.prior.noise_variance.item() < 1e-4 * bowls.prior.signal_variance.item()


@pytest.mark.slow
def test_a_registered_family_can_be_trained_and_evaluated(bowls, tmp_path):
    metabo.register(bowls)
    tiny = {"hidden": (8,), "episodes": 4, "n_global": 20, "minibatches": 2, "iterations": 2}
    path = metabo.train("bowls", preset="fast", out=tmp_path, validation_tasks=4, **tiny)
    run = metabo.evaluate("bowls", methods=["metabo", "ei"], tasks=3, artifact=str(path))
    assert (run.methods["ei"].regret >= -1e-9).all()
    with pytest.raises(OptionError, match=r"A family `bowls` already exists. Choose another name"):
        metabo.register(bowls)
    metabo.register(bowls, replace=True)


def test_mistakes_are_named():
    with pytest.raises(ShapeError, match=r"one value per point, shape \(8, 80\) \(E N\)"):
        metabo.function_family("a", lambda x, p: x, dim=2, parameters=PARAMETERS)
    with pytest.raises(OptionError, match="needs at least one parameter"):
        metabo.function_family("a", bowl, dim=2, parameters={})
    with pytest.raises(ShapeError, match="must return a tensor, but returned ndarray"):
        metabo.function_family("a", lambda x, p: x[..., 0].numpy(), dim=2, parameters=PARAMETERS)
    with pytest.raises(
        OptionError, match=r"`budget` must be a whole number in 1..10000, but got 0"
    ):
        metabo.function_family("a", bowl, dim=2, parameters=PARAMETERS, budget=0)
    with pytest.raises(OptionError, match="A family's name must consist of lower-case letters"):
        metabo.register(metabo.function_family("a,b", bowl, dim=2, parameters=PARAMETERS))
    scalar = metabo.function_family(
        "a", bowl, dim=2, parameters=PARAMETERS, optimum=lambda p: p["height"].max()
    )
    with pytest.raises(ShapeError, match=r"finite value for each of 2 tasks, shape \(2,\)"):
        scalar.sources(2)
    broken = metabo.function_family(
        "a",
        lambda x, p: (x[..., 0] - 0.5).log(),
        dim=1,
        parameters={"a": (0, 1)},
        prior=metabo.family("rhino-1").prior,
    )
    with pytest.raises(DataError, match="must be finite on the whole unit cube"):
        broken.sources(2)
