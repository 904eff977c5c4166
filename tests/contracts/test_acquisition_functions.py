"""What every acquisition function must satisfy."""

import pytest
import torch

import metabo
from metabo.acquisition import (
    EI,
    FEATURES,
    GMMUCB,
    PI,
    TAF,
    UCB,
    AcquisitionFunction,
    Architecture,
    Experts,
    LogEI,
    LogPI,
    LogTAF,
    Mixture,
    NeuralAF,
    OnLearned,
    Ranking,
    Schedule,
    slopes_of,
)
from metabo.domain import sobol
from metabo.pretrained import load
from metabo.seeding import generator
from metabo.sources import SourceData, learned_prior
from metabo.state import BOState

CLASSICAL = [EI(), LogEI(), PI(), PI(0.1), LogPI(), UCB(), UCB(schedule="gp-ucb")]
SMOOTH = Architecture(3, tuple(FEATURES), (16, 16), "tanh", normalize=True, init="orthogonal")
NEURAL = NeuralAF(SMOOTH, generator(0, "weights")).double()
FAMILY = metabo.family("hartmann-3")
SEEN = sobol(30, 3)
SOURCES = SourceData(FAMILY.prior, SEEN, FAMILY.sources(5)(SEEN.expand(5, -1, -1)))
MIXTURE = Mixture.fit(SOURCES.predicted_best(), 2, generator(0, "mixture"))
TRANSFER = [TAF(SOURCES.models, w) for w in (Experts(), Ranking(), Ranking(1.0))]
TRANSFER += [TAF(SOURCES.models, Ranking(0.2, "mean", FAMILY.prior))]
TRANSFER += [LogTAF(taf) for taf in TRANSFER[:2]]
TRANSFER += [GMMUCB(MIXTURE, Schedule()), GMMUCB(MIXTURE, Schedule(0.2), "plain")]
LEARNED = [OnLearned(EI()), OnLearned(LogEI()), OnLearned(UCB())]
AFS = [*CLASSICAL, *TRANSFER, *LEARNED, NEURAL, load("hartmann-3")]
PRIOR = learned_prior(FAMILY, 8, 60)


def _name(af):
    return repr(af) if af in CLASSICAL else type(af).__name__


def grown(rng, episodes=3, t=6):
    family = metabo.family("hartmann-3")
    tasks = family.sample(episodes, rng)
    state = BOState.start(PRIOR, episodes=episodes, budget=30)
    for _ in range(t):
        x = torch.rand(episodes, 3, generator=rng, dtype=torch.float64)
        state = state.observe(x, tasks(x[:, None])[:, 0])
    return state, torch.rand(episodes, 20, 3, generator=rng, dtype=torch.float64)


@pytest.mark.parametrize("af", AFS, ids=_name)
@pytest.mark.parametrize("t", [0, 1, 6])
def test_scores_are_finite_and_one_per_point(af, t, rng):
    state, x = grown(rng, t=t)
    score = af(state.belief(x))
    assert isinstance(af, AcquisitionFunction)
    assert score.shape == x.shape[:-1]
    assert torch.isfinite(score).all()


@pytest.mark.parametrize("af", AFS, ids=_name)
def test_permuting_the_points_permutes_the_scores(af, rng):
    state, x = grown(rng)
    order = torch.randperm(x.shape[1], generator=rng)
    permuted, score = af(state.belief(x[:, order])), af(state.belief(x))[:, order]
    torch.testing.assert_close(permuted, score, rtol=1e-9, atol=1e-5 if af is AFS[-1] else 1e-12)


@pytest.mark.parametrize("af", [*CLASSICAL, *TRANSFER, *LEARNED, NEURAL], ids=_name)
def test_scores_are_differentiable_in_the_points(af, rng):
    state, x = grown(rng)
    assert torch.autograd.gradcheck(
        lambda at: af(state.belief(at)), (x[:, :3].requires_grad_(),), rtol=1e-3, atol=1e-6
    )


@pytest.mark.parametrize("af", AFS, ids=_name)
@pytest.mark.parametrize("t", [0, 1, 6])
def test_slopes_are_autograds(af, t, rng):
    state, x = grown(rng, t=t)
    at = x.clone().requires_grad_()
    score = af(state.belief(at))
    (expected,) = torch.autograd.grad(score.sum(), at, materialize_grads=True)
    belief, pullback = state.belief_with_pullback(x)
    slopes = slopes_of(af)(belief)
    torch.testing.assert_close(slopes.score, score.detach(), rtol=1e-12, atol=1e-12)
    gradient = pullback(*slopes[1:])
    torch.testing.assert_close(gradient, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("af", AFS, ids=_name)
def test_slopes_are_found_in_inference_mode(af, rng):
    with torch.inference_mode():
        state, x = grown(rng)
        slopes = slopes_of(af)(state.belief(x))
    for derivative in slopes:
        if derivative is None:
            continue
        assert torch.isfinite(derivative).all()
