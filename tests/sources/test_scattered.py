"""What is learned from sources that were each evaluated at points of their own."""

from dataclasses import replace

import pytest
import torch

import metabo
from metabo.errors import DataError
from metabo.gp import GP, LearnedGP, Mixture, Prior
from metabo.gp.kernels import correlation
from metabo.sources.expectation import Coefficients, chosen, improved, learned
from metabo.sources.inducing import Inducing, batched
from metabo.sources.rows import checked, deviations, spread_out
from metabo.sources.scattered import learn_scattered
from metabo.sources.weights import LEAST_WEIGHT
from metabo.space import Float, Space
from metabo.tasks import MeasuredFamily
from metabo.tasks.tabular import Table, TabularFamily

PRIOR = Prior.of([0.25], signal_variance=1.0, noise_variance=1e-4)
SQUARE = Prior.of([0.3, 0.3], signal_variance=1.0, noise_variance=1e-4)


def draws(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def bump(x, p):
    """Tasks on the square that differ in three numbers: a place, and the weight of a wave."""
    centre = 0.35 + 0.3 * p[..., None, :2]
    wave = torch.sin(9 * x[..., 0]) * (p[..., 2:] - 0.5)
    return 2 * (-6 * (x - centre).square().sum(-1)).exp() + wave


def scattered(m=60, seed=0):
    """Rows of `m` tasks, 8 to 15 each, whose levels and scales differ."""
    p, unit, level = draws(m, 3, seed=seed), 0.5 + draws(m, seed=seed + 1), draws(m, seed=seed + 2)
    rows = []
    for i in range(m):
        x = draws(8 + i % 8, 2, seed=seed + 10 + i)
        rows.append((x, unit[i] * bump(x, p[i]) + level[i]))
    return rows


def seen_and_unseen(seed=500, n_tasks=20, n=5):
    p, level = draws(n_tasks, 3, seed=seed), draws(n_tasks, 1, seed=seed + 1)
    x, at = draws(2, n_tasks, 40, 2, seed=seed + 2)
    x = x[:, :n]
    return x, bump(x, p) + level, at, bump(at, p) + level


def learned_view(prior, x, y, at):
    plain, gp = GP.of(replace(prior, learned=None), x, y), LearnedGP.of(prior, x, y)
    return Mixture.by_evidence(plain, gp).views(at)[0]


def prepared(prior, rows):
    """Inducing points, the sources as the expectation maximization sees them, their variance."""
    sources = checked(rows, prior.dim)
    inducing = Inducing.of(prior, sources)
    return inducing, *batched(inducing, sources, deviations(prior, sources))


def test_permuting_the_sources_changes_nothing_beyond_rounding():
    rows, (x, y, at, _) = scattered(30), seen_and_unseen()
    order = torch.randperm(30, generator=torch.Generator().manual_seed(1)).tolist()
    parts = [learn_scattered(SQUARE, r) for r in (rows, [rows[i] for i in order])]
    one, other = (learned_view(replace(SQUARE, learned=part), x, y, at) for part in parts)
    torch.testing.assert_close(one.learned_mean, other.learned_mean, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(one.learned_std, other.learned_std, rtol=1e-6, atol=1e-8)


def test_permuting_the_rows_of_a_source_changes_nothing_beyond_rounding():
    rows = scattered(10)
    parts = [learn_scattered(SQUARE, r) for r in (rows, [(x.flip(0), y.flip(0)) for x, y in rows])]
    at = draws(1, 50, 2)
    torch.testing.assert_close(parts[0].columns(at)[0, 0], parts[1].columns(at)[0, 0])


def test_values_at_a_repeated_point_are_averaged():
    rows = scattered(10)
    twice = [
        (torch.cat([x, x[:1]]), torch.cat([y[:1] - 0.3, y[1:], y[:1] + 0.3])) for x, y in rows
    ]
    parts = [learn_scattered(SQUARE, r) for r in (rows, twice)]
    at = draws(1, 50, 2)
    torch.testing.assert_close(parts[0].columns(at)[0, 0], parts[1].columns(at)[0, 0])


def test_other_units_change_scale_and_offset_only():
    """What is learned of a y, with a prior for them, is that of y with other cells."""
    rows, a = scattered(20), 10.0
    wide = Prior.of([0.3, 0.3], signal_variance=a**2, noise_variance=1e-4 * a**2)
    wide, own = replace(wide, jitter=SQUARE.jitter * a**2), learn_scattered(SQUARE, rows)
    other = learn_scattered(wide, [(x, a * y) for x, y in rows])
    torch.testing.assert_close(other.weights[0], own.weights[0], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(other.cells.scale, a * own.cells.scale)
    torch.testing.assert_close(other.cells.offset_variance, a**2 * own.cells.offset_variance)
    residual = wide.signal_variance * other.cells.scale.square() * other.cells.share
    torch.testing.assert_close(residual, a**2 * own.cells.scale.square() * own.cells.share)
    torch.testing.assert_close(other.cells.log_weight, own.cells.log_weight, rtol=1e-4, atol=0)


def test_the_mean_of_dense_sources_is_their_average():
    x = torch.linspace(0, 1, 15, dtype=torch.float64)[:, None]
    shift = 0.3 * draws(40, 1)
    y = torch.sin(6 * (x[:, 0] + shift)) * (1 + draws(40, 1, seed=1)) + draws(40, 1, seed=2)
    part = learn_scattered(PRIOR, [(x, own) for own in y])
    standardized = (y - y.mean(-1, keepdim=True)) / y.std(-1, keepdim=True)
    mean = part.columns(x[None])[0, 0]
    torch.testing.assert_close(mean - mean.mean(), standardized.mean(0), rtol=0, atol=0.02)
    features = part.columns(x[None])[0, 1:]
    expected = torch.cov(standardized.mT).diagonal()
    assert ((features.square().sum(0) - expected).abs() < 0.2).all()


def test_the_variance_does_not_collapse_where_hardly_anyone_measured():
    x = [0.5 * draws(6, 1, seed=m) for m in range(30)]
    x[0] = torch.linspace(0, 1, 12, dtype=torch.float64)[:, None]
    rows = [(own, torch.sin(5 * own[:, 0] + 0.1 * m)) for m, own in enumerate(x)]
    inducing, batches, variance = prepared(PRIOR, rows)
    every = torch.ones(30, dtype=torch.bool)
    now = Coefficients.stationary(inducing.at_z.shape[1], variance)
    for _ in range(10):
        now, _ = improved(now, batches, every, variance, 1.0)
    at_z = (inducing.at_z @ now.covariance @ inducing.at_z.mT).diagonal()
    where = inducing.z[:, 0]
    assert (at_z[where > 0.85] > 0.8 * variance).all()
    inside = (where > 0.1) & (where < 0.4)
    assert (at_z[inside] < 0.5 * variance).all()


def test_the_posterior_of_a_source_is_that_of_a_gaussian_process():
    """After one round without pseudo-sources, two equal sources leave the posterior of either."""
    x = draws(6, 1)
    y = torch.sin(5 * x[:, 0])
    inducing, (batch,), variance = prepared(PRIOR, [(x, y), (x, y)])
    before = Coefficients.stationary(inducing.at_z.shape[1], variance)
    now, log_density = improved(before, [batch], torch.ones(2).bool(), variance, 0.0)
    k = variance * correlation("rbf", inducing.z, inducing.z, PRIOR.lengthscale[0])
    # All rows are inducing points, in the same order.
    noise = batch.rest[0] - variance * torch.zeros_like(k)
    gain = torch.linalg.solve(k + noise, k).mT
    torch.testing.assert_close(inducing.at_z @ now.mean, gain @ batch.y[0], atol=1e-6, rtol=0)
    covariance = inducing.at_z @ now.covariance @ inducing.at_z.mT
    torch.testing.assert_close(covariance, k - gain @ k, atol=1e-6, rtol=0)
    normal = torch.distributions.MultivariateNormal(torch.zeros_like(y), k + noise)
    torch.testing.assert_close(log_density, normal.log_prob(batch.y), atol=1e-5, rtol=0)


def test_tasks_of_the_family_are_predicted_better_than_by_the_plain_prior():
    part = learn_scattered(SQUARE, scattered())
    x, y, at, truth = seen_and_unseen()
    both = learned_view(replace(SQUARE, learned=part), x, y, at)
    level = y.mean(-1, keepdim=True)
    plain, std = GP.of(SQUARE, x, y - level).predict(at)
    error = (both.learned_mean - truth).square().mean().sqrt()
    assert error < 0.5 * (plain + level - truth).square().mean().sqrt()
    fit = torch.distributions.Normal(both.learned_mean, both.learned_std).log_prob(truth).mean()
    assert fit > torch.distributions.Normal(plain + level, std).log_prob(truth).mean() + 0.5


@pytest.mark.parametrize("is_related", [True, False])
def test_the_number_of_rounds_is_best_for_sources_that_were_left_out(is_related):
    rows = scattered(12)
    if not is_related:  # draws from the stationary kernel, which nothing can be learned from
        for m, (x, _) in enumerate(rows):
            k = correlation("rbf", x, x, SQUARE.lengthscale[0]) + 1e-6 * torch.eye(len(x)).double()
            normal = torch.special.ndtri(draws(len(x), seed=900 + m))
            rows[m] = (x, torch.linalg.cholesky(k) @ normal)
    _, batches, variance = prepared(SQUARE, rows)
    learning = chosen(batches, variance)
    best = learning.tried[learning.pseudo_sources, learning.rounds]
    assert best == max(learning.tried.values())
    assert (learning.rounds > 0) == is_related
    assert {rounds for _, rounds in learning.tried} >= {0, 1}


def test_no_source_is_learned_from_and_left_out():
    """What the others teach is learned without the sources that judge it."""
    _, batches, variance = prepared(SQUARE, scattered(12))
    learning = chosen(batches, variance)
    left_out, coefficients = learning.folds[0]
    others = [
        replace(
            batch,
            **{
                name: getattr(batch, name)[~torch.isin(batch.source, left_out)]
                for name in ("source", "basis", "rest", "y")
            },
        )
        for batch in batches
    ]
    index = torch.cat([batch.source for batch in others]).sort().values
    others = [
        replace(batch, source=torch.searchsorted(index, batch.source))
        for batch in others
        if len(batch.y)
    ]
    alone = learned(others, variance, learning)
    torch.testing.assert_close(alone.mean, coefficients.mean)
    torch.testing.assert_close(alone.covariance, coefficients.covariance)


def test_the_probabilities_of_cells_and_plain_prior_sum_to_one():
    cells = learn_scattered(SQUARE, scattered(15)).cells
    total = cells.log_weight.exp().sum() + cells.log_plain.exp()
    torch.testing.assert_close(total, torch.ones(()).double())
    by_share = cells.log_weight.exp().view(4, -1).sum(-1)
    assert bool((by_share > 0.9 * LEAST_WEIGHT).all())
    assert bool((cells.group == 0).all())
    assert bool((cells.noise_share == 1).all())


def test_exact_tasks_have_less_noise_where_the_residual_is_smaller():
    cells = learn_scattered(SQUARE, scattered(15), is_exact=True).cells
    shares = cells.noise_share.view(4, -1)
    assert bool((shares[:-1] < shares[1:]).all())
    assert bool((shares <= 1).all())


def test_the_scales_are_those_of_the_sources():
    rows = [(x, 5 * y) for x, y in scattered(40)]
    log = torch.stack([y.std() for _, y in rows]).log()
    scale = learn_scattered(SQUARE, rows).cells.scale[:5].log()
    torch.testing.assert_close(scale[2], log.mean())
    torch.testing.assert_close(scale.diff(), log.std().expand(4), rtol=0.1, atol=0)


def test_sources_with_too_few_points_are_left_out():
    rows, (x, y) = scattered(10), scattered(1, seed=7)[0]
    extra = [(x[:2], y[:2]), (x[:1].repeat(5, 1), y[:5]), (x[:0], y[:0])]
    parts = [learn_scattered(SQUARE, r) for r in (rows, rows + extra)]
    torch.testing.assert_close(parts[0].weights, parts[1].weights, rtol=0, atol=0)


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_a_constant_source_does_no_harm(value):
    rows = scattered(10)
    rows[3] = (rows[3][0], torch.full_like(rows[3][1], value))
    part = learn_scattered(SQUARE, rows)
    assert bool(part.weights.isfinite().all())
    assert bool(part.cells.scale.isfinite().all())


def test_two_sources_are_enough():
    part = learn_scattered(SQUARE, scattered(2))
    both = learned_view(replace(SQUARE, learned=part), *seen_and_unseen()[:3])
    assert bool(both.learned_mean.isfinite().all())
    assert bool((both.learned_std > 0).all())


def test_points_that_nearly_coincide_can_be_learned_from():
    rows = [(torch.cat([x, x + 1e-9]), torch.cat([y, y])) for x, y in scattered(10)]
    assert bool(learn_scattered(SQUARE, rows, is_exact=True).weights.isfinite().all())


def test_chosen_points_are_spread_out():
    x = torch.linspace(0, 1, 101, dtype=torch.float64)[:, None]
    assert spread_out(x, 3).tolist() == [0, 50, 100]
    assert spread_out(x, 200).tolist() == list(range(101))


def with_number(rows, source, row, column, value):
    x, y = rows[source][0].clone(), rows[source][1].clone()
    (y if column is None else x[:, column])[row] = value
    return [*rows[:source], (x, y), *rows[source + 1 :]]


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_numbers_that_are_not_finite_are_refused(value):
    with pytest.raises(DataError, match=r"but source 3 has (nan|inf) in row 7\. Leave"):
        learn_scattered(SQUARE, with_number(scattered(8), 3, 7, None, value))
    with pytest.raises(DataError, match=r"source 3 has (nan|inf) as coordinate 1 in row 7"):
        learn_scattered(SQUARE, with_number(scattered(8), 3, 7, 1, value))


@pytest.mark.parametrize(
    ("few", "message"),
    [
        (0, r"but got 0\. Give more rows"),
        (1, r"but got 1; source 0 has 2\. Give"),
        (2, r"but got 0; source 0 has 2\. Give"),
    ],
)
def test_too_few_sources_are_refused(few, message):
    rows = scattered(2)
    rows = (
        []
        if few == 0
        else [(x[:2], y[:2]) if m < few else (x, y) for m, (x, y) in enumerate(rows)]
    )
    with pytest.raises(
        DataError, match=r"at least 2 sources with at least 3 different .*" + message
    ):
        learn_scattered(SQUARE, rows)


def test_constant_sources_are_refused():
    rows = [(x, torch.full_like(y, m / 10)) for m, (x, y) in enumerate(scattered(5))]
    twice = [(x.repeat(3, 1), y.repeat(3)) for x, y in rows]
    for constant in (rows, twice):
        with pytest.raises(DataError, match="every one of them is constant"):
            learn_scattered(SQUARE, constant)


def test_sources_of_two_spaces_are_refused():
    rows = scattered(5)
    rows[2] = (rows[2][0][:, :1], rows[2][1])
    with pytest.raises(
        DataError, match="source 0 have 2 coordinates and those of source 2 have 1"
    ):
        learn_scattered(SQUARE, rows)
    with pytest.raises(DataError, match=r"must have 1 coordinates, .* but have 2: two spaces"):
        learn_scattered(PRIOR, scattered(5))


def test_points_without_values_are_refused():
    rows = scattered(5)
    rows[4] = (rows[4][0], rows[4][1][:-1])
    with pytest.raises(DataError, match="source 4 has 12 points and 11 values"):
        learn_scattered(SQUARE, rows)


def table_with_gaps():
    """Results of 6 data sets on a grid of 25 configurations; each lacks some."""
    grid = [(a / 4, b / 4) for a in range(5) for b in range(5)]
    x = torch.tensor(grid, dtype=torch.float64)
    measured = bump(x, draws(6, 3))
    measured[draws(6, 25, seed=1) < 0.5] = torch.nan
    space = Space({"a": Float(0, 1), "b": Float(0, 1)})
    table = Table(space, tuple("uvwxyz"), tuple(grid), measured)
    return TabularFamily("gaps", table, source_names=tuple("ywvuz"))


def test_a_table_tells_what_was_measured_in_the_order_of_its_sources(monkeypatch):
    # Gaps are filled by a GP, which takes seconds to fit and does not matter here.
    monkeypatch.setattr("metabo.tasks.tabular.family.filled", lambda _, y: y.nan_to_num(nan=-9.0))
    family = table_with_gaps()
    assert isinstance(family, MeasuredFamily)
    measured = family.measured_sources(4)
    assert torch.equal(measured.nan_to_num(nan=-9.0), family.sources(4).values)
    assert not bool(measured.isfinite().all())
    whole = replace(family.table, measured=family.table.measured.nan_to_num())
    assert replace(family, table=whole).measured_sources(4) is None
    assert not isinstance(metabo.family("branin"), MeasuredFamily)


def test_a_prior_is_learned_from_a_table_with_gaps():
    family = table_with_gaps()
    points = family.domain.points
    rows = [(points[own.isfinite()], own[own.isfinite()]) for own in family.measured_sources(5)]
    part = learn_scattered(SQUARE, rows, is_exact=True)
    assert bool(part.columns(points[None]).isfinite().all())
