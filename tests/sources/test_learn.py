"""What is learned from sources that were evaluated at the same points."""

from dataclasses import replace

import pytest
import torch

import metabo
from metabo.errors import DataError, OptionError
from metabo.gp import GP, LearnedGP, Prior
from metabo.seeding import generator
from metabo.sources import learned_prior
from metabo.sources.points import covering
from metabo.sources.scattered import learn_scattered
from metabo.sources.shared import learn, mean_and_features

PRIOR = Prior.of([0.3, 0.3], signal_variance=1.0, noise_variance=1e-8)


def sources(m=30, n=60, seed=0):
    """Sources that differ in two numbers, at points of the square."""
    x, checks = covering(n, 2)
    draw = torch.Generator().manual_seed(seed)
    shift = 0.2 * torch.rand(m, 1, 2, generator=draw).double()

    def at(points):
        return -4 * (points - 0.4 - shift).square().sum(-1)

    return x, at(x), checks, at(checks)


def test_mean_and_features_have_the_moments_of_the_sources():
    _, y, *_ = sources()
    rows, coefficients, size = mean_and_features(y)
    torch.testing.assert_close(rows[0], y.mean(0))
    torch.testing.assert_close(rows[1:].mT @ rows[1:], torch.cov(y.mT), atol=1e-8, rtol=0)
    torch.testing.assert_close(rows[0] + coefficients @ rows[1:], y, atol=1e-6, rtol=0)
    torch.testing.assert_close(rows[1:].norm(dim=-1), size)
    identity = torch.eye(len(size)).double()
    torch.testing.assert_close(torch.cov(coefficients.mT), identity, atol=1e-6, rtol=0)


def test_permuting_the_sources_changes_nothing_beyond_rounding():
    x, y, checks, y_checks = sources()
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(1))
    at = torch.rand(2, 5, 2, generator=torch.Generator().manual_seed(2)).double()
    seen, values = (
        at[:, :3],
        torch.randn(2, 3, generator=torch.Generator().manual_seed(3)).double(),
    )
    predictions = []
    for rows in (torch.arange(len(y)), order):
        prior = replace(PRIOR, learned=learn(PRIOR, x, y[rows], checks, y_checks[rows]))
        plain, learned = GP.of(PRIOR, seen, values), LearnedGP.of(prior, seen, values)
        weight = learned.probabilities(plain)
        means, variance, _ = learned.predict_with_pullback(at, learned.weighed(weight[:, :-1]))
        predictions.append(((weight[:, :-1, None] * means).sum(1), variance, weight[:, -1]))
    for one, other in zip(*predictions, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", ["branin", "hartmann-3"])
def test_a_task_of_the_family_is_soon_known(name):
    """After ten values, a learned prior predicts the rest far better than the plain one."""
    family = metabo.family(name)
    prior = learned_prior(family, 50, 300)
    tasks = family.sample(20, generator(0, "test tasks"))
    draw = torch.Generator().manual_seed(0)
    x, at = torch.rand(2, 20, 10, family.domain.dim, generator=draw, dtype=torch.float64)
    plain, learned = GP.of(prior, x, tasks(x)), LearnedGP.of(prior, x, tasks(x))
    weight = learned.probabilities(plain)[:, :-1]
    mean = (weight[..., None] * learned.predict_with_pullback(at, learned.weighed(weight))[0]).sum(
        1
    )
    error, before = (mean - tasks(at)).abs().median(), plain.predict(at)[0] - tasks(at)
    assert error < 0.02 * before.abs().median()


def test_groups_explain_tasks_that_differ_in_few_numbers():
    assert len(learned_prior(metabo.family("branin"), 60, 200).learned.groups.centre) > 1


def test_every_cell_and_the_plain_prior_keep_some_probability():
    cells = learned_prior(metabo.family("branin"), 30, 100).learned.cells
    total = cells.log_weight.exp().sum() + cells.log_plain.exp()
    torch.testing.assert_close(total, torch.ones(()).double())
    assert float(cells.log_plain.exp()) > 0.01
    assert bool((cells.log_weight[cells.group == 0].exp() > 0.01).all())
    assert float(cells.unguarded().log_plain) == -torch.inf


def test_sources_that_all_agree_leave_only_the_mean():
    x, y, checks, y_checks = sources()
    part = learn(PRIOR, x, y[:1].expand(5, -1), checks, y_checks[:1].expand(5, -1))
    assert part.rank == 0
    prior, at = replace(PRIOR, learned=part), torch.rand(1, 4, 2).double()
    gp = LearnedGP.of(prior, at, torch.zeros(1, 4).double())
    weight = gp.probabilities(GP.of(PRIOR, at, torch.zeros(1, 4).double()))
    assert bool(gp.predict_with_pullback(at, gp.weighed(weight[:, :-1]))[0].isfinite().all())


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_values_that_are_not_finite_are_refused(value):
    x, y, *_ = sources()
    y[3, 7] = value
    with pytest.raises(DataError, match=r"source 3 has .* in row 7"):
        learn(PRIOR, x, y)


def test_constant_sources_are_refused():
    x, y, *_ = sources()
    with pytest.raises(DataError, match="every one of them is constant"):
        learn(PRIOR, x, torch.ones_like(y))


def test_a_single_source_is_refused():
    with pytest.raises(DataError, match="at least 2 source tasks, but family `branin` has 1"):
        learned_prior(metabo.family("branin"), 1)


def test_gaps_of_a_table_are_not_filled_but_left_to_expectation_maximization(tmp_path):
    rows = [
        f"{task},{x / 20},{y / 20},{-((x / 20 - 0.3 - 0.02 * task) ** 2) - (y / 20 - 0.5) ** 2}"
        for task in range(10)
        for x in range(21)
        for y in range(21)
        if (7 * x + 3 * y + 5 * task) % 30 == 0
    ]
    (tmp_path / "all.csv").write_text("\n".join(["dataset,x,y,value", *rows]) + "\n")
    family = metabo.family(f"table:{tmp_path}")
    values = family.measured_sources(10)
    assert not bool(values.isfinite().all())
    points = [family.domain.points[own.isfinite()] for own in values]
    data = [(x, own[own.isfinite()]) for x, own in zip(points, values, strict=True)]
    given = learned_prior(family).learned
    expected = learn_scattered(family.prior, data, is_exact=True)
    assert torch.equal(given.weights, expected.weights)
    assert torch.equal(given.cells.log_weight, expected.cells.log_weight)


@pytest.mark.parametrize("n", [-1, 0, 1, 20_000])
def test_a_number_of_points_that_cannot_be_is_refused(n):
    with pytest.raises(OptionError, match=r"`N` must be a whole number in 2\.\.4000"):
        learned_prior(metabo.family("branin"), 5, n)


def test_a_value_that_is_not_finite_is_refused_at_checks_too():
    prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
    x = torch.linspace(0, 1, 20).double()[:, None]
    y = torch.stack([x[:, 0], x[:, 0] ** 2, 1 - x[:, 0]])
    wrong = torch.full((3, 1), torch.nan).double()
    with pytest.raises(DataError, match="learned from finite values"):
        learn(prior, x, y, x[:1] + 0.01, wrong)
