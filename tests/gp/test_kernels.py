import gpytorch
import pytest
import torch

from metabo.gp import KERNELS
from metabo.gp.kernels import SLOPES, WITH_SLOPES, correlation, square_distance

ORACLES = {
    "rbf": lambda d: gpytorch.kernels.RBFKernel(ard_num_dims=d),
    "matern52": lambda d: gpytorch.kernels.MaternKernel(2.5, ard_num_dims=d),
    "matern32": lambda d: gpytorch.kernels.MaternKernel(1.5, ard_num_dims=d),
}


def draw(rng, *shape):
    return torch.rand(*shape, generator=rng, dtype=torch.float64)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 3, 6])
def test_correlation_is_gpytorchs(kernel, dim, rng):
    a, b, scale = draw(rng, 1, 7, dim), draw(rng, 1, 9, dim), 0.1 + draw(rng, 1, dim)
    oracle = ORACLES[kernel](dim).double()
    oracle.lengthscale = scale
    torch.testing.assert_close(
        correlation(kernel, a, b, scale)[0], oracle(a[0], b[0]).to_dense(), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("dim", [1, 3, 6])
def test_distances_of_few_points_are_those_among_many(dim, rng):
    a, b = draw(rng, 4, 30, dim), draw(rng, 4, 200, dim)
    expected = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").square()
    for n in (200, 34, 1):  # the first of them in the way for many
        found = square_distance(a, b[:, :n])
        torch.testing.assert_close(found, expected[..., :n], rtol=1e-12, atol=1e-30)


@pytest.mark.parametrize("kernel", KERNELS)
def test_batched_is_a_loop_over_singles(kernel, rng):
    a, b, scale = draw(rng, 5, 7, 2), draw(rng, 5, 9, 2), 0.1 + draw(rng, 5, 2)
    batched = correlation(kernel, a, b, scale)
    for e in range(5):
        one = slice(e, e + 1)
        assert torch.equal(batched[one], correlation(kernel, a[one], b[one], scale[one]))


@pytest.mark.parametrize("kernel", KERNELS)
def test_coinciding_points_have_correlation_one_and_gradient_zero(kernel):
    x = torch.full((1, 1, 2), 0.3, dtype=torch.float64, requires_grad=True)
    value = correlation(kernel, x.detach(), x, torch.full((1, 2), 0.2, dtype=torch.float64))
    value.sum().backward()
    assert value.item() == pytest.approx(1, abs=1e-14)
    assert torch.equal(x.grad, torch.zeros_like(x))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_distance_of_1e_9_is_not_lost(kernel):
    scale = torch.full((1, 1), 0.01, dtype=torch.float64)
    a = torch.tensor([[[0.7]]], dtype=torch.float64)
    r2 = correlation("rbf", a, a + 1e-9, scale).log().mul(-2)
    assert r2.item() == pytest.approx(1e-14, rel=0.05)  # the correlation itself has 16 digits
    assert correlation(kernel, a, a + 1e-3, scale).item() < 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_slopes_are_autograds(kernel):
    r2 = torch.logspace(-12, 3, 40, dtype=torch.float64, requires_grad=True)
    k = KERNELS[kernel](r2)
    (slope,) = torch.autograd.grad(k.sum(), r2)
    found = SLOPES[kernel](r2.detach(), k.detach())
    torch.testing.assert_close(found, slope, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_with_its_slope_is_both(kernel, rng):
    r2 = 4 * draw(rng, 50)
    value, slope = WITH_SLOPES[kernel](r2)
    torch.testing.assert_close(value, KERNELS[kernel](r2), rtol=1e-14, atol=0)
    torch.testing.assert_close(slope, SLOPES[kernel](r2, value), rtol=1e-12, atol=0)
