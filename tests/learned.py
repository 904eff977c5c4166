"""A small learned prior, made by hand, with groups and cells of every kind."""

from dataclasses import replace

import torch

from metabo.gp import Cells, Groups, LearnedPart, Prior


def double(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def cells(log_plain=-1.0):
    """Two cells of all sources, and three of groups, with all shares, scales and offsets."""
    return Cells(
        torch.tensor([0, 0, 1, 2, 2]),
        double(1e-4, 1e-2, 1e-3, 0.1, 1e-2),
        double(1.0, 0.5, 2.0, 1.0, 1.5),
        double(0.0, 0.3, 0.1, 0.0, 0.2),
        double(1, 1, 1, 0.5, 1),
        double(-0.7, -1.5, -2.0, -1.0, -3.0),
        torch.tensor(log_plain, dtype=torch.float64),
    )


def many_cells(n=200):
    """As many cells as are soon dropped."""
    draw = torch.Generator().manual_seed(5)
    group = torch.cat([torch.zeros(2), torch.randint(1, 3, (n - 2,), generator=draw)]).long()
    share = 10 ** (-4 * torch.rand(n, generator=draw).double())
    ones = torch.ones_like(share)
    weight = torch.randn(n, generator=draw).double().log_softmax(0)
    return Cells(group, share, ones, 0 * ones, ones, weight, double(-4.0)[0])


def prior(kernel="rbf", mean="zero", of=None):
    draw = torch.Generator().manual_seed(3)
    z = torch.rand(30, 2, generator=draw, dtype=torch.float64)
    values = 0.5 * torch.randn(4, 30, generator=draw, dtype=torch.float64)
    groups = Groups(
        torch.randn(2, 3, generator=draw).double(),
        0.5 * torch.randn(2, 3, 2, generator=draw).double(),
    )
    part = LearnedPart.interpolating(
        z,
        values,
        kernel=kernel,
        lengthscale=[0.3, 0.2],
        cells=cells() if of is None else of,
        groups=groups,
        has_level=True,
    )
    plain = Prior.of(
        [0.4, 0.3], signal_variance=1.3, noise_variance=1e-4, kernel=kernel, mean=mean
    )
    return replace(plain, learned=part)


def data(episodes=3, t=6, seed=0):
    draw = torch.Generator().manual_seed(seed)
    x = torch.rand(episodes, t, 2, generator=draw, dtype=torch.float64)
    return x, torch.randn(episodes, t, generator=draw, dtype=torch.float64)


def numerical(function, x, eps=1e-6):
    """Slope of a scalar function of a tensor by central differences."""
    slope = torch.zeros_like(x)
    for index in torch.cartesian_prod(*(torch.arange(n) for n in x.shape)):
        step = torch.zeros_like(x)
        step[tuple(index)] = eps
        slope[tuple(index)] = (function(x + step) - function(x - step)) / (2 * eps)
    return slope
