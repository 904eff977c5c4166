from dataclasses import replace

import pytest
import torch

import metabo
from metabo.acquisition import Architecture, NeuralAF
from metabo.acquisition.features import columns
from metabo.errors import OptionError
from metabo.gp import Prior
from metabo.policies import Maximize, Scatter
from metabo.seeding import Noise, generator
from metabo.state import BOState
from metabo.training.presets import GENERAL_FEATURES, PLAIN_FEATURES

RELATIVE = tuple(name for name in GENERAL_FEATURES if name.startswith("relative"))


def state_of(factor, offset, t, dim=2):
    """Runs whose values and model are scaled and shifted alike."""
    prior = Prior.of([0.3] * dim, signal_variance=factor**2, noise_variance=1e-4 * factor**2)
    prior = replace(prior, jitter=0.0)
    source = generator(0, "points")
    x = torch.rand(4, t, dim, generator=source, dtype=torch.float64)
    y = torch.randn(4, t, generator=source, dtype=torch.float64)
    return BOState.after(prior, x, factor * y, budget=20), offset


def moved(belief, offset):
    """The belief about the function plus a constant."""
    history = replace(belief.history, y=belief.history.y + offset)
    return replace(belief, mean=belief.mean + offset, best=belief.best + offset, history=history)


@pytest.mark.parametrize(("t", "factor"), [(0, 1.0), (1, 1.0), (2, 1000.0), (7, 1000.0)])
@pytest.mark.parametrize("name", GENERAL_FEATURES)
def test_features_do_not_depend_on_the_unit_of_the_values(name, t, factor):
    """Nor on what is added to them; before two observations there is no unit."""
    x = torch.rand(4, 9, 2, generator=generator(1, "points"), dtype=torch.float64)
    plain, _ = state_of(1.0, 0.0, t)
    scaled, offset = state_of(factor, 5.0, t)
    expected = columns(plain.belief(x), (name,))
    torch.testing.assert_close(columns(moved(scaled.belief(x), offset), (name,)), expected)


def test_they_are_what_their_names_say():
    state, _ = state_of(1.0, 0.0, 5)
    b = state.belief(torch.rand(4, 9, 2, generator=generator(1, "x"), dtype=torch.float64))
    y = b.history.y
    unit = y.std(-1)[:, None]
    values = dict(zip(RELATIVE, columns(b, RELATIVE).unbind(-1), strict=True))
    torch.testing.assert_close(values["relative_mean"], (b.mean - y.mean(-1)[:, None]) / unit)
    best = (y.amax(-1) - y.mean(-1))[:, None]
    torch.testing.assert_close(values["relative_incumbent"], (best / unit).expand(-1, 9))
    torch.testing.assert_close(values["relative_std"], b.std / unit)
    torch.testing.assert_close(values["relative_log_std"], (b.std / unit).log())
    remaining = columns(b, ("remaining",))[..., 0]
    torch.testing.assert_close(remaining, torch.full_like(remaining, 15).log())


@pytest.mark.parametrize(
    ("features", "residual"),
    [
        (GENERAL_FEATURES, None),
        (GENERAL_FEATURES, "relative_log_ei"),
        (PLAIN_FEATURES, "mean"),
    ],
)
@pytest.mark.parametrize("t", [1, 6])
def test_slopes_are_autograds(t, features, residual):
    shape = Architecture(2, features, (16,), "tanh", True, "orthogonal", 1.0, residual, 3.0)
    af = NeuralAF(shape, generator(0, "weights")).double()
    state, _ = state_of(1.0, 0.0, t)
    x = torch.rand(4, 9, 2, generator=generator(1, "x"), dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(af(state.belief(x)).sum(), x)
    belief, pullback = state.belief_with_pullback(x.detach())
    slopes = af.slopes(belief)
    torch.testing.assert_close(slopes.score, af(belief))
    gradient = pullback(slopes.mean, slopes.std, slopes.x)
    torch.testing.assert_close(gradient, expected, rtol=1e-6, atol=1e-9)


def test_an_af_of_them_serves_any_dimension():
    shape = Architecture(3, GENERAL_FEATURES, (8,))
    assert shape.is_for_any_dimension
    af = NeuralAF(shape, generator(0, "weights")).double()
    for dim in (1, 4):
        family = metabo.family(f"gp-rbf:dim={dim}")
        state = BOState.start(family.prior, episodes=2, budget=5)
        noise = Noise.at(0, episodes=torch.arange(2), step=0)
        assert Maximize(af, Scatter(n_global=20)).propose(state, noise).x.shape == (2, dim)


def test_equal_values_have_the_models_unit():
    state = BOState.after(
        Prior.of([0.3], signal_variance=1.0, noise_variance=0.0),
        torch.rand(1, 3, 1, generator=generator(1, "x"), dtype=torch.float64),
        torch.full((1, 3), 4.0, dtype=torch.float64),
        budget=9,
    )
    belief = state.belief(torch.rand(1, 5, 1, generator=generator(2, "x"), dtype=torch.float64))
    names = ("relative_incumbent", "relative_mean", "relative_std")
    incumbent, mean, std = columns(belief, names).unbind(-1)
    assert not incumbent.any()
    torch.testing.assert_close(mean, belief.mean - 4)
    torch.testing.assert_close(std, belief.std)


def test_with_a_residual_training_starts_from_that_feature():
    shape = Architecture(
        2,
        ("x", *GENERAL_FEATURES),
        (8,),
        normalize=True,
        residual="relative_log_ei",
        residual_weight=2.0,
    )
    af = NeuralAF(shape, generator(0, "weights")).double()
    for parameter in af.network.parameters():
        parameter.detach().zero_()
    state, _ = state_of(1.0, 0.0, 5)
    belief = state.belief(torch.rand(4, 9, 2, generator=generator(1, "x"), dtype=torch.float64))
    score, expected = af(belief), columns(belief, ("relative_log_ei",))[..., 0]
    torch.testing.assert_close(score - score[:, :1], 2 * (expected - expected[:, :1]))
    with pytest.raises(OptionError, match=r"`residual` must be one of the features"):
        Architecture(2, ("mean",), residual="std")
