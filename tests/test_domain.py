import pytest
import torch

from metabo.domain import Box, Finite, lattice, require_dim, require_inside, sobol
from metabo.errors import DomainError, ShapeError


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_sobol_points_start_at_the_centre_and_fill_the_cube(dim):
    points = sobol(255, dim)
    assert torch.equal(points[0], torch.full((dim,), 0.5, dtype=torch.float64))
    # 255 points and the corner 0 make a full net: every 16th of every axis holds 16 of them.
    counts = torch.stack([torch.histc(points[:, d], 16, 0, 1) for d in range(dim)])
    assert (counts[:, 1:] == 16).all()
    assert (counts[:, 0] == 15).all()


def test_the_lattice_has_all_corners_and_equal_steps():
    points = lattice(5, 2)
    assert points.shape == (25, 2)
    assert set(map(tuple, points.tolist())) == {(i / 4, j / 4) for i in range(5) for j in range(5)}


@pytest.mark.parametrize("bad", [-1e-9, 1 + 1e-9, float("nan"), float("inf")])
def test_points_outside_the_cube_are_refused(bad):
    x = torch.tensor([[0.5, 0.5], [0.5, bad]], dtype=torch.float64)
    with pytest.raises(DomainError, match=r"must lie in the unit cube .* but got \[0.5, "):
        require_inside(x)
    with pytest.raises(DomainError, match="unit cube"):
        Finite(x)


@pytest.mark.parametrize("shape", [(0, 2), (4,), (2, 2, 2)])
def test_a_finite_domain_needs_a_list_of_points(shape, unchecked):
    with pytest.raises(ShapeError, match="needs points of shape N D, at least one"):
        Finite(torch.zeros(shape, dtype=torch.float64))


def test_a_box_needs_a_dimension():
    with pytest.raises(ShapeError, match="at least one dimension, but got 0"):
        Box(0)


def test_a_wrong_dimension_is_named():
    with pytest.raises(ShapeError, match=r"axis of size 3 .* shape \(8, 1000, 2\)"):
        require_dim(torch.zeros(8, 1000, 2), 3)
