import math

import pytest
import torch

import metabo
from metabo.acquisition import TAF, Experts, LogTAF, Ranking
from metabo.errors import OptionError, ShapeError
from metabo.gp import Prior, SourcePosteriors
from metabo.sources import source_data
from metabo.state import BOState

PRIOR = Prior.of([0.3, 0.5], signal_variance=1.3, noise_variance=0.01)


def three_sources(rng):
    x = torch.rand(4, 2, generator=rng, dtype=torch.float64)
    y = torch.randn(3, 4, generator=rng, dtype=torch.float64)
    return x, y, SourcePosteriors.of(PRIOR, x[None], y)


def kernel(a, b):
    r2 = sum(((p - q) / s) ** 2 for p, q, s in zip(a, b, (0.3, 0.5), strict=True))
    return 1.3 * math.exp(-0.5 * r2)


def posterior(inputs, values, at):
    """Mean and variance at one point, by an explicit inverse."""
    d = 0.01 + 1e-8
    gram = [
        [kernel(a, b) + d * (i == j) for j, b in enumerate(inputs)] for i, a in enumerate(inputs)
    ]
    inverse = torch.linalg.inv(torch.tensor(gram, dtype=torch.float64))
    k = torch.tensor([kernel(a, at) for a in inputs], dtype=torch.float64)
    values = torch.tensor(values, dtype=torch.float64)
    return (k @ inverse @ values).item(), (1.3 - k @ inverse @ k).item()


def by_hand(flavour, rho, ranks, source_x, source_y, queries, observed, at):
    """TAF at one point for three sources and two observations, written out."""
    mean, variance = posterior(queries, observed, at)
    std = math.sqrt(variance)
    z = (mean - max(observed)) / std
    phi, cdf = math.exp(-z * z / 2) / math.sqrt(2 * math.pi), 0.5 * math.erfc(-z / math.sqrt(2))
    ei = std * (phi + z * cdf)
    numerator, denominator = 0.0, 0.0
    target = observed
    if ranks == "mean":
        target = [posterior(queries, observed, q)[0] for q in queries]
    for values in source_y:
        mu, var = posterior(source_x, values, at)
        first, second = (posterior(source_x, values, q)[0] for q in queries)
        if flavour == "me":
            weight = 1 / var / 4
        else:
            pairs = [
                (first > second, target[0] > target[1]),
                (second > first, target[1] > target[0]),
            ]
            distance = math.sqrt(sum((a - b) ** 2 for a, b in pairs)) / 2
            weight = 0.75 * (1 - (distance / rho) ** 2) if distance <= rho else 0.0
        numerator += weight * max(0.0, mu - max(first, second))
        denominator += weight
    own = 1 / variance / 4 if flavour == "me" else 0.75
    return (own * ei + numerator) / (own + denominator)


@pytest.mark.parametrize(
    ("flavour", "rho", "ranks"),
    [("me", 1.0, "observed"), ("r", 0.9, "observed"), ("r", 1.0, "mean"), ("r", 0.5, "observed")],
)
def test_the_batched_value_is_the_one_written_out(flavour, rho, ranks, rng):
    x, y, models = three_sources(rng)
    weighting = (
        Experts() if flavour == "me" else Ranking(rho, ranks, PRIOR if ranks == "mean" else None)
    )
    state = BOState.start(PRIOR, episodes=2, budget=5)
    queries = torch.rand(2, 2, 2, generator=rng, dtype=torch.float64)
    # In the second episode the GP's mean ranks two nearly equal values the other way round.
    observed = torch.tensor([[0.3, -0.2], [0.5, 0.5 + 1e-6]], dtype=torch.float64)
    queries[1, 1] = queries[1, 0] + 0.01
    for t in range(2):
        state = state.observe(queries[:, t], observed[:, t])
    points = torch.rand(2, 7, 2, generator=rng, dtype=torch.float64)
    score = TAF(models, weighting)(state.belief(points))
    for e in range(2):
        for n in range(7):
            expected = by_hand(
                flavour,
                rho,
                ranks,
                x.tolist(),
                y.tolist(),
                queries[e].tolist(),
                observed[e].tolist(),
                points[e, n].tolist(),
            )
            assert score[e, n].item() == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_sources_that_rank_as_the_target_weigh_most():
    history = BOState.start(PRIOR, episodes=1, budget=9)
    for v in (0.1, 0.5, 0.9):
        history = history.observe(
            torch.full((1, 2), v, dtype=torch.float64), torch.tensor([v], dtype=torch.float64)
        )
    means = torch.tensor([[[1.0, 2, 3]], [[1.0, 3, 2]], [[3.0, 2, 1]]], dtype=torch.float64)
    weights = Ranking(0.45).sources(history.history, means)[:, 0, 0].tolist()
    squares = [0, 2 / 36, 6 / 36]
    for weight, square in zip(weights, squares, strict=True):
        assert weight == pytest.approx(0.75 * (1 - square / 0.45**2))
    assert weights[0] == 0.75


@pytest.mark.parametrize("weighting", [Experts(), Ranking()], ids=str)
def test_before_the_first_query_sources_promise_over_their_own_worst(weighting, rng):
    _, y, models = three_sources(rng)
    state = BOState.start(PRIOR, episodes=1, budget=5)
    points = torch.rand(1, 4, 2, generator=rng, dtype=torch.float64)
    mean, std = models.predict(points[0])
    promised = (mean - y.amin(-1, keepdim=True)).clamp_min(0)
    own, theirs = (0.75, 0.75) if isinstance(weighting, Ranking) else (1 / 1.3, 1 / std**2)
    ei = math.sqrt(1.3) / math.sqrt(2 * math.pi)
    expected = (own * ei + theirs * promised.sum(0)) / (own + 3 * theirs)
    score = TAF(models, weighting)(state.belief(points))
    torch.testing.assert_close(score, expected.expand_as(score))


@pytest.mark.parametrize("weighting", [Experts(), Ranking(0.4)], ids=str)
def test_the_ascent_climbs_the_logarithm(weighting, rng):
    _, _, models = three_sources(rng)
    state = BOState.start(PRIOR, episodes=1, budget=5)
    for _ in range(3):
        x = torch.rand(1, 2, generator=rng, dtype=torch.float64)
        state = state.observe(x, torch.randn(1, generator=rng, dtype=torch.float64))
    taf = TAF(models, weighting)
    assert isinstance(taf.ascent, LogTAF)
    belief = state.belief(torch.rand(1, 50, 2, generator=rng, dtype=torch.float64))
    torch.testing.assert_close(taf.ascent(belief), taf(belief).log())


def test_hyperparameters_of_their_own_change_the_sources_not_the_law(rng):
    family = metabo.family("branin")
    data = source_data(family, 3, 12)
    shared = data.models
    rows = Prior(*(t.expand(3, *t.shape[1:]) for t in _numbers(family.prior)))
    separate = SourcePosteriors.of(rows, data.x[None], data.y)
    assert (shared.inverse.shape[0], separate.inverse.shape[0]) == (1, 3)
    state = BOState.start(family.prior, episodes=2, budget=5)
    for _ in range(3):
        x = torch.rand(2, 2, generator=rng, dtype=torch.float64)
        state = state.observe(x, torch.randn(2, generator=rng, dtype=torch.float64))
    belief = state.belief(torch.rand(2, 9, 2, generator=rng, dtype=torch.float64))
    for weighting in (Experts(), Ranking(0.3)):
        one, three = TAF(shared, weighting)(belief), TAF(separate, weighting)(belief)
        torch.testing.assert_close(one, three, rtol=1e-6, atol=1e-9)


def _numbers(prior):
    return prior.lengthscale, prior.signal_variance, prior.noise_variance


def test_mistakes_are_named(rng):
    _, _, models = three_sources(rng)
    with pytest.raises(OptionError, match="`rho` must be a positive number, but got 0"):
        Ranking(0)
    with pytest.raises(OptionError, match="needs the target's `prior`"):
        Ranking(ranks="mean")
    state = BOState.start(metabo.family("hartmann-3").prior, episodes=1, budget=5)
    with pytest.raises(ShapeError, match="points of 2 dimensions, but the target's have 3"):
        TAF(models, Experts())(state.belief(torch.rand(1, 4, 3, dtype=torch.float64)))
