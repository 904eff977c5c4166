"""Values at grids, which are computed once."""

import pytest
import torch

from metabo.gp.grids import AtGrids, is_shared


@pytest.fixture
def counted():
    """A function of points, and the numbers of points it was called with."""
    calls = []

    def function(x):
        calls.append(x.shape[1])
        return x.mT.cumsum(1)

    return AtGrids(function), calls


def shared(points, episodes=1):
    return points.as_strided((episodes, *points.shape), (0, *points.stride()))


def test_a_grid_and_its_parts_are_computed_once(counted):
    at, calls = counted
    grid = torch.rand(50, 3).double()
    for x in (shared(grid), shared(grid, 7), shared(grid)[:, 10:30], shared(grid, 7)[:, 30:]):
        assert is_shared(x)
        assert torch.equal(at(x), x[:1].mT.cumsum(1))
    assert calls == [50]


def test_a_part_of_a_larger_tensor_is_found_at_its_place(counted):
    at, _ = counted
    points = torch.rand(60, 2).double()[5:45]
    assert torch.equal(at(shared(points)), points[None].mT.cumsum(1))


def test_a_grid_that_was_changed_is_computed_again(counted):
    at, calls = counted
    grid = torch.rand(8, 2).double()
    at(shared(grid))
    grid += 1
    assert torch.equal(at(shared(grid)), grid[None].mT.cumsum(1))
    assert len(calls) == 2


def test_other_points_never_get_the_values_of_a_grid_that_was_freed(counted):
    at, _ = counted
    for seed in range(40):
        grid = torch.rand(16, 2, generator=torch.Generator().manual_seed(seed)).double()
        assert torch.equal(at(shared(grid)), grid[None].mT.cumsum(1))


@pytest.mark.parametrize("points", [torch.rand(3, 9).double().mT, torch.rand(30_000, 2).double()])
def test_points_in_another_layout_or_too_many_are_computed_each_time(counted, points):
    at, calls = counted
    for _ in range(2):
        assert torch.equal(at(shared(points)), points[None].mT.cumsum(1))
    assert calls == [len(points)] * 2
