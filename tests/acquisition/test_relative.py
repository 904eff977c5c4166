from dataclasses import replace

import pytest
import torch

import metabo
from metabo.acquisition import Architecture, NeuralAF
from metabo.acquisition.features import columns
from metabo.gp import Prior
from metabo.policies import Maximize, Scatter
from metabo.seeding import Noise, generator
from metabo.state import BOState
from metabo.training.config import GENERAL_FEATURES

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


@pytest.mark.parametrize("t", [0, 1, 2, 7])
@pytest.mark.parametrize("name", GENERAL_FEATURES)
def test_features_do_not_depend_on_the_unit_of_the_values(name, t):
    x = torch.rand(4, 9, 2, generator=generator(1, "points"), dtype=torch.float64)
    plain, _ = state_of(1.0, 0.0, t)
    scaled, offset = state_of(1000.0, 5.0, t)
    expected = columns(plain.belief(x), (name,))
    torch.testing.assert_close(columns(moved(scaled.belief(x), offset), (name,)), expected)


def test_they_are_what_their_names_say():
    state, _ = state_of(1.0, 0.0, 5)
    b = state.belief(torch.rand(4, 9, 2, generator=generator(1, "x"), dtype=torch.float64))
    y = b.history.y
    unit = (y.var(-1, correction=0)[:, None] + b.std.square() / 5).sqrt()
    values = dict(zip(RELATIVE, columns(b, RELATIVE).unbind(-1), strict=True))
    torch.testing.assert_close(values["relative_mean"], (b.mean - y.mean(-1)[:, None]) / unit)
    best = (y.amax(-1) - y.mean(-1))[:, None]
    torch.testing.assert_close(values["relative_incumbent"], best / unit)
    torch.testing.assert_close(values["relative_std"], b.std / unit)
    torch.testing.assert_close(values["relative_log_std"], (b.std / unit).log())
    remaining = columns(b, ("remaining",))[..., 0]
    torch.testing.assert_close(remaining, torch.full_like(remaining, 15).log())


@pytest.mark.parametrize("t", [1, 6])
def test_slopes_are_autograds(t):
    shape = Architecture(2, GENERAL_FEATURES, (16,), "tanh", True, "orthogonal", 1.0)
    af = NeuralAF(shape, generator(0, "weights")).double()
    state, _ = state_of(1.0, 0.0, t)
    x = torch.rand(4, 9, 2, generator=generator(1, "x"), dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(af(state.belief(x)).sum(), x)
    belief, pullback = state.belief_with_pullback(x.detach())
    slopes = af.slopes(belief)
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
