import math
from dataclasses import replace

import pytest
import torch

import metabo
from metabo.acquisition import FEATURES, Architecture, LogEI, NeuralAF
from metabo.acquisition.features import columns, width
from metabo.acquisition.perceptron import score_and_gradient
from metabo.errors import OptionError, ShapeError
from metabo.seeding import generator
from metabo.sources import learned_prior
from metabo.state import BOState


def belief(rng, name="hartmann-3", t=5, episodes=3, n=7):
    family = metabo.family(name)
    tasks = family.sample(episodes, rng)
    state = BOState.start(learned_prior(family, 8, 60), episodes=episodes, budget=20)
    for _ in range(t):
        x = torch.rand(episodes, family.domain.dim, generator=rng, dtype=torch.float64)
        state = state.observe(x, tasks(x[:, None])[:, 0])
    return state.belief(
        torch.rand(episodes, n, family.domain.dim, generator=rng, dtype=torch.float64)
    )


def test_the_papers_features_are_raw_and_in_order(rng):
    b = belief(rng)
    af = NeuralAF(Architecture(3), generator(0, "weights"))
    features = af.features(b)
    assert features.shape == (3, 7, 7)
    assert features.dtype == torch.float32
    expected = [
        b.mean,
        b.std,
        *b.x.unbind(-1),
        torch.full_like(b.mean, 5),
        torch.full_like(b.mean, 20),
    ]
    torch.testing.assert_close(features, torch.stack(expected, -1).float())


def test_the_other_features_are_what_their_names_say(rng):
    b = belief(rng)
    names = ("incumbent", "progress", "improvement", "log_std", "log_ei", "novelty")
    values = dict(zip(names, columns(b, names).unbind(-1), strict=True))
    assert torch.equal(values["incumbent"], b.best[:, None].expand(-1, 7))
    assert torch.equal(values["progress"], torch.full_like(b.mean, 5 / 20))
    z = (b.mean - b.best[:, None]) / b.std
    torch.testing.assert_close(values["improvement"], z.clamp(-10, 10))
    torch.testing.assert_close(values["log_std"], b.std.log())
    torch.testing.assert_close(values["log_ei"], LogEI()(b).clamp(-30, 5))
    distance = (b.x[:, :, None] - b.history.x[:, None]).norm(dim=-1).amin(-1)
    torch.testing.assert_close(values["novelty"], (distance.square() + 1e-12).log10() / 2)


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_is_finite_before_and_at_observations(name, rng):
    empty = belief(rng, t=0)
    assert torch.isfinite(columns(empty, (name,))).all()
    family = metabo.family("branin")
    state = BOState.start(learned_prior(family, 8, 60), episodes=1, budget=20)
    x = torch.full((1, 2), 0.4, dtype=torch.float64)
    state = state.observe(x, torch.ones(1).double())
    at = x[None].clone().requires_grad_()
    value = columns(state.belief(at), (name,))
    assert torch.isfinite(value).all()
    if value.requires_grad:
        value.sum().backward()
        assert torch.isfinite(at.grad).all()
    assert value.shape[-1] == width((name,), 2)


def test_scoring_is_features_then_network(rng):
    b = belief(rng)
    af = NeuralAF(Architecture(3, tuple(FEATURES), (32, 32), normalize=True, init="orthogonal"))
    torch.testing.assert_close(af(b), af.score(af.features(b)).double())


def test_the_papers_weights_are_normal_and_orthogonal_ones_orthogonal():
    paper = NeuralAF(Architecture(2), generator(0, "weights")).network
    assert paper[2].weight.std().item() == pytest.approx(0.01, rel=0.02)
    assert not paper[2].bias.any()
    shape = Architecture(2, hidden=(64, 64), init="orthogonal")
    network = NeuralAF(shape, generator(0, "weights")).network
    square = network[2].weight @ network[2].weight.T
    torch.testing.assert_close(square, 2 * torch.eye(64), atol=1e-5, rtol=0)
    assert network[4].weight.norm().item() == pytest.approx(0.01, rel=1e-4)


def test_without_x_any_dimension_is_served_and_with_it_only_its_own(rng):
    free = NeuralAF(Architecture(3, ("mean", "std", "progress"), (8,)))
    for name in ("rhino-1", "branin", "hartmann-3"):
        assert torch.isfinite(free(belief(rng, name))).all()
    bound = NeuralAF(Architecture(3, hidden=(8,)))
    with pytest.raises(
        ShapeError, match="trained for points of 3 dimensions, but the points have 2"
    ):
        bound(belief(rng, "branin"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ("men",)}, r"Unknown feature `men`. Did you mean `mean`"),
        ({"features": ()}, "at least one feature"),
        ({"features": ("mean", "mean")}, "each once"),
        ({"activation": "rel"}, r"Unknown activation `rel`. Did you mean `relu`"),
        ({"hidden": (0,)}, "widths of at least 1"),
    ],
)
def test_impossible_architectures_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        Architecture(2, **options)


def test_weights_are_a_function_of_the_seed():
    one, two = (NeuralAF(Architecture(2), generator(0, "weights")) for _ in range(2))
    other = NeuralAF(Architecture(2), generator(1, "weights"))
    assert torch.equal(one.network[0].weight, two.network[0].weight)
    assert not torch.equal(one.network[0].weight, other.network[0].weight)
    assert math.isclose(one.network[0].weight.mean().item(), 0, abs_tol=1e-2)


@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
def test_the_networks_gradient_is_autograds(activation, rng):
    af = NeuralAF(Architecture(2, hidden=(9, 7), activation=activation, init="orthogonal"))
    x = torch.randn(3, 5, 6, generator=rng, requires_grad=True)
    expected = af.score(x)
    (derivative,) = torch.autograd.grad(expected.sum(), x)
    score, gradient = score_and_gradient(af.network, x)
    torch.testing.assert_close(score, expected)
    torch.testing.assert_close(gradient, derivative)


def test_after_the_horizon_the_score_is_the_residual_alone(rng):
    shape = Architecture(
        2, ("mean", "x", "log_ei"), (8,), normalize=True, residual="log_ei", residual_weight=4.0
    )
    cut = replace(shape, horizon=3)
    for t in (2, 3, 4):
        b = belief(rng, name="branin", t=t)
        always, until = (NeuralAF(s, generator(0, "weights")).double() for s in (shape, cut))
        expected = always(b)
        if t >= 3:
            shift = FEATURES["log_ei"].shift
            expected = 4 * (FEATURES["log_ei"].values(b)[0] - shift)
        torch.testing.assert_close(until(b), expected)
        at = until.slopes(b)
        torch.testing.assert_close(at.score, until(b))
        if t < 3:
            for one, other in zip(at, always.slopes(b), strict=True):
                torch.testing.assert_close(one, other)


def test_a_horizon_without_a_residual_is_refused():
    with pytest.raises(OptionError, match="needs a `residual`"):
        Architecture(2, horizon=3)
