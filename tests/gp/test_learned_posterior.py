"""Posteriors under a learned prior: every cell is a Gaussian process, and few of them are kept."""

from dataclasses import replace

import pytest
import torch
from learned import data, many_cells, prior

from metabo.gp import GP, LearnedGP, plain_log_evidence
from metabo.gp.kernels import correlation


def grown(prior, x, y):
    gp = LearnedGP.empty(prior, len(x))
    for t in range(x.shape[1]):
        gp = gp.grown(x[:, t], y[:, t])
    return gp


def dense(prior, cell, x, y, at):
    """Posterior mean and variance, and log evidence, written out with dense matrices."""
    part, cells = prior.learned, prior.learned.cells
    scale, offset = cells.scale[cell], cells.offset_variance[cell]
    centre, covariance = part.centre[cells.group[cell]], part.covariance[cells.group[cell]]

    def moments(a, b):
        of_a, of_b = part.columns(a[None])[0], part.columns(b[None])[0]
        k = correlation(prior.kernel, a, b, prior.lengthscale[0])
        inner = of_a[1:].mT @ covariance @ of_b[1:]
        inner = inner + cells.share[cell] * prior.signal_variance * k
        return scale**2 * inner + offset, scale * (of_b[0] + centre @ of_b[1:])

    own = moments(x, x)[0] + cells.noise_share[cell] * prior.diagonal * torch.eye(len(x)).double()
    cross, mean = moments(x, at)
    rest = y - moments(x, x)[1]
    solved = torch.linalg.solve(own, cross)
    variance = moments(at, at)[0].diagonal() - (cross * solved).sum(0)
    normal = torch.distributions.MultivariateNormal(torch.zeros_like(y), own)
    constant = 0.5 * len(y) * torch.log(torch.tensor(2 * torch.pi))
    return mean + rest @ solved, variance, normal.log_prob(rest) + constant


def test_every_cell_is_a_gaussian_process():
    p, (x, y) = prior(), data()
    at = data(t=4, seed=5)[0]
    gp = grown(p, x, y)
    for cell in range(5):
        only = torch.zeros(3, 5).double()
        only[:, cell] = 1
        mean, variance, _ = gp.predict_with_pullback(at, gp.weighed(only))
        for episode in range(3):
            expected = dense(p, cell, x[episode], y[episode], at[episode])
            given = mean[episode, cell], variance[episode], gp.log_evidence[episode, cell]
            for one, other in zip(given, expected, strict=True):
                torch.testing.assert_close(one, other, atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("t", [3, 8, 30])
@pytest.mark.parametrize("cells", [None, many_cells()], ids=["few", "many"])
def test_growing_by_rows_agrees_with_one_factorization(t, cells):
    p, (x, y) = prior(of=cells), data(t=t)
    rows = LearnedGP.empty(p, 3)
    for i in range(t):
        rows = rows.condition(x[:, i], y[:, i])
    whole = LearnedGP.of(p, x, y)
    assert torch.equal(rows.cell, whole.cell)
    at = data(t=4, seed=5)[0]
    weight = torch.ones(3, rows.cell.shape[1]).double() / rows.cell.shape[1]
    for one, other in zip(
        rows.predict_with_pullback(at, rows.weighed(weight))[:2],
        whole.predict_with_pullback(at, whole.weighed(weight))[:2],
        strict=True,
    ):
        torch.testing.assert_close(one, other, atol=1e-8, rtol=1e-8)
    torch.testing.assert_close(rows.log_evidence, whole.log_evidence, atol=1e-7, rtol=1e-7)


def test_the_likeliest_cells_are_kept_and_those_of_all_sources_always():
    p, (x, y) = prior(of=many_cells()), data(t=12)
    y = p.learned.columns(x).sum(1) + 0.1 * y  # like the sources, and noise
    p = replace(p, noise_variance=p.noise_variance + 0.01)
    full, few = grown(p, x, y), LearnedGP.empty(p, 3)
    numbers = []
    for t in range(12):
        few = few.condition(x[:, t], y[:, t])
        numbers.append(few.cell.shape[1])
        assert (few.cell[:, :2] == torch.arange(2)).all()
    assert numbers == [66, 34, 23, 18, 14, 12, 11, 10, 10, 10, 10, 10]
    joint = full.log_evidence + p.learned.cells.log_weight
    for episode in range(3):  # what is left holds nearly all of the probability
        share = joint[episode].softmax(0)[few.cell[episode]].sum()
        assert share > 0.9


def test_an_episode_does_not_depend_on_the_others():
    p, (x, y) = prior(of=many_cells()), data(5, t=5)
    at = data(5, t=4, seed=5)[0]
    together, alone = LearnedGP.of(p, x, y), LearnedGP.of(p, x[2:3], y[2:3])
    assert torch.equal(together.cell[2:3], alone.cell)
    weight = torch.rand(5, together.cell.shape[1]).double()
    seen = together.predict_with_pullback(at, together.weighed(weight))[:2]
    own = alone.predict_with_pullback(at[2:3], alone.weighed(weight[2:3]))[:2]
    for one, other in zip(seen, own, strict=True):
        assert torch.equal(one[2:3], other)


@pytest.mark.parametrize("mean", ["zero", "observed"])
def test_the_plain_evidence_is_that_of_a_normal_distribution(mean):
    p, (x, y) = replace(prior(mean=mean), learned=None), data()
    given = plain_log_evidence(GP.of(p, x, y))
    k = p.signal_variance[:, None, None] * correlation(p.kernel, x, x, p.lengthscale)
    k = k + p.diagonal[:, None, None] * torch.eye(x.shape[1]).double()
    if mean == "observed":
        k = k + p.signal_variance[:, None, None]
    normal = torch.distributions.MultivariateNormal(torch.zeros_like(y), k)
    constant = 0.5 * x.shape[1] * torch.log(torch.tensor(2 * torch.pi).double())
    torch.testing.assert_close(given, normal.log_prob(y) + constant)
