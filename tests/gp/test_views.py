"""The plain and the learned view of points, and the guard between them."""

from dataclasses import replace

import pytest
import torch
from learned import data, numerical, prior

from metabo.gp import GP, LearnedGP, Mixture


def both(p, x, y):
    return Mixture.by_evidence(GP.of(p, x, y), LearnedGP.of(p, x, y))


@pytest.mark.parametrize("t", [0, 6])
@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_the_pullback_of_both_views_is_their_derivative(mean, t):
    mixture = both(prior(mean=mean), *data(t=t))
    at = data(t=3, seed=5)[0]
    seen, pullback = mixture.views(at)
    names = ("mean", "std", "learned_mean", "learned_std")
    slopes = [torch.randn_like(seen.mean) for _ in names]

    def total(at):
        seen = mixture.views(at)[0]
        return sum((d * getattr(seen, n)).sum() for d, n in zip(slopes, names, strict=True))

    torch.testing.assert_close(pullback(*slopes), numerical(total, at), atol=1e-5, rtol=1e-5)


def test_the_learned_view_has_the_moments_of_the_mixture():
    weights = torch.rand(3, 6).double().softmax(-1)
    mixture = replace(both(prior(), *data()), probabilities=weights)
    at = data(t=4, seed=5)[0]
    seen, _ = mixture.views(at)
    means, variances = [], []
    for cell in range(5):
        only = torch.zeros(3, 5).double()
        only[:, cell] = 1
        learned = mixture.learned
        mean, variance, _ = learned.predict_with_pullback(at, learned.weighed(only))
        means.append(mean[:, cell])
        variances.append(variance)
    mean = torch.stack([*means, seen.mean], 1)
    variance = torch.stack([*variances, seen.std.square()], 1)
    expected = (weights[..., None] * mean).sum(1)
    second = (weights[..., None] * (variance + mean.square())).sum(1)
    torch.testing.assert_close(seen.learned_mean, expected)
    torch.testing.assert_close(seen.learned_std.square(), second - expected.square())


def test_a_task_of_the_family_has_little_guard_and_another_has_much():
    p = prior()
    draw = torch.Generator().manual_seed(7)
    x = torch.rand(1, 8, 2, generator=draw, dtype=torch.float64)
    columns = p.learned.columns(x)[0]
    inside = (columns[0] + torch.randn(3, generator=draw).double() @ columns[1:])[None]
    outside = torch.sin(20 * x.sum(-1))
    guards = [both(p, x, y).guard[0] for y in (inside, outside)]
    assert guards[0] < 1e-3
    assert guards[1] > 0.8


def test_without_a_guard_the_plain_prior_has_no_weight():
    p = prior()
    weights = both(replace(p, learned=p.learned.unguarded()), *data()).probabilities
    assert weights[:, -1].tolist() == [0.0, 0.0, 0.0]
    torch.testing.assert_close(weights.sum(-1), torch.ones(3).double())


def sure(**changes):
    """Return a prior whose cells exclude large values, other than the plain prior."""
    p = prior()
    cells = p.learned.cells
    small = {"scale": 0.01 * cells.scale, "offset_variance": 0 * cells.offset_variance}
    return replace(p, learned=replace(p.learned, cells=replace(cells, **small, **changes)))


@pytest.mark.parametrize("t", [1, 2, 5])
def test_sources_are_not_given_up_at_once(t):
    p = sure()
    x = data(t=t)[0]
    guard = both(p, x, torch.full(x.shape[:2], 30.0).double()).guard
    torch.testing.assert_close(guard, torch.full_like(guard, 0.8 * (t - 1)).sigmoid())


def test_a_guard_that_was_likely_before_the_first_value_stays_so():
    p = sure(log_plain=torch.tensor(3.0).double())
    x = data(t=1)[0]
    guard = both(p, x, torch.full(x.shape[:2], 30.0).double()).guard
    assert (guard.logit() - p.learned.cells.log_odds).abs().max() < 1e-9
