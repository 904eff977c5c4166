"""Groups of similar sources."""

import torch

from metabo.sources.groups import grouped


def clusters(n=40, seed=0):
    """Two clusters, each stretched in its own direction."""
    draw = torch.Generator().manual_seed(seed)
    one = torch.randn(n, 2, generator=draw).double() * torch.tensor([1.0, 0.05])
    other = torch.randn(n, 2, generator=draw).double() * torch.tensor([0.05, 1.0])
    return one + torch.tensor([5.0, 0.0]), other - torch.tensor([5.0, 0.0])


def test_each_cluster_is_a_group_with_its_own_mean_and_covariance():
    parts = clusters()
    groups, share = grouped(torch.cat(parts), torch.ones(2).double(), 2)
    assert share.tolist() == [0.5, 0.5]
    for part in parts:
        group = int((groups.centre - part.mean(0)).square().sum(-1).argmin())
        torch.testing.assert_close(groups.centre[group], part.mean(0))
        spread = groups.spread[group]
        torch.testing.assert_close(spread @ spread.mT, torch.cov(part.mT), rtol=0, atol=0.01)


def test_a_single_group_has_the_moments_of_all_sources():
    x = torch.cat(clusters())
    groups, share = grouped(x, torch.ones(2).double(), 1)
    torch.testing.assert_close(groups.centre[0], x.mean(0))
    spread = groups.spread[0]
    torch.testing.assert_close(spread @ spread.mT, torch.cov(x.mT), rtol=0.01, atol=1e-9)
    assert share.tolist() == [1.0]


def test_permuting_the_sources_changes_nothing():
    x = torch.cat(clusters())
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(1))
    groups, share = grouped(x, torch.ones(2).double(), 5)
    permuted, same = grouped(x[order], torch.ones(2).double(), 5)
    first, second = groups.centre[:, 0].argsort(), permuted.centre[:, 0].argsort()
    torch.testing.assert_close(groups.centre[first], permuted.centre[second])
    torch.testing.assert_close(share[first], same[second])
    one, other = groups.spread[first], permuted.spread[second]
    torch.testing.assert_close(one @ one.mT, other @ other.mT)


def test_few_members_borrow_their_neighbours():
    x = torch.cat(clusters())
    groups, share = grouped(x, torch.ones(2).double(), 30)
    assert float(share.min()) < 20 / len(x)
    variance = groups.spread.square().sum((-1, -2))
    assert bool((variance > 0.01).all())  # not that of the few members alone


def test_sizes_say_which_differences_count():
    x = torch.cat(clusters())
    groups, _ = grouped(x / torch.tensor([10.0, 1.0]), torch.tensor([10.0, 1.0]).double(), 2)
    plain, _ = grouped(x, torch.ones(2).double(), 2)
    expected = plain.centre / torch.tensor([10.0, 1.0])
    torch.testing.assert_close(groups.centre.sort(0).values, expected.sort(0).values)
