import torch

from metabo.ascent import ascend, differentiated


def climb(objective, x, **options):
    dim = x.shape[-1]
    box = {"lower": torch.zeros(dim).double(), "upper": torch.ones(dim).double()}
    settings = {"unit": torch.ones(dim).double(), "iterations": 40, "radius": 0.1}
    return ascend(differentiated(objective), x, **(box | settings | options))


def quadratics(rng, n, dim):
    """Concave quadratics with maxima anywhere in [-0.3, 1.3]^D, badly conditioned."""
    a = torch.randn(n, dim, dim, generator=rng, dtype=torch.float64)
    hessian = a @ a.mT + 0.05 * torch.eye(dim, dtype=torch.float64)
    centre = 1.6 * torch.rand(n, dim, generator=rng, dtype=torch.float64) - 0.3
    return hessian, centre


def test_every_row_reaches_the_constrained_maximum_of_its_own_quadratic(rng):
    hessian, centre = quadratics(rng, 50, 3)

    def objective(x):
        d = x - centre
        return -0.5 * torch.einsum("ni,nij,nj->n", d, hessian, d)

    x, value = climb(objective, torch.full((50, 3), 0.5).double(), iterations=60)
    assert ((x >= 0) & (x <= 1)).all()
    # Optimal in a box: the gradient vanishes in free coordinates, points outwards in held ones.
    gradient = -torch.einsum("nij,nj->ni", hessian, x - centre)
    inward = torch.where(
        x <= 0, gradient.clamp_min(0), torch.where(x >= 1, gradient.clamp_max(0), gradient)
    )
    assert inward.abs().max() < 1e-5
    torch.testing.assert_close(value, objective(x))


def test_rosenbrocks_valley_is_followed_to_its_end():
    def objective(x):
        a, b = 2 * x[..., 0], 2 * x[..., 1]
        return -((1 - a) ** 2) - 100 * (b - a**2) ** 2

    x, _ = climb(objective, torch.tensor([[0.1, 0.9]]).double(), iterations=120)
    torch.testing.assert_close(x, torch.full((1, 2), 0.5).double(), atol=1e-5, rtol=0)


def test_rows_do_not_see_one_another(rng):
    def objective(x):
        return (7 * x).sin().sum(-1)

    starts = torch.rand(20, 2, generator=rng, dtype=torch.float64)
    together, _ = climb(objective, starts)
    for i in range(20):
        alone, _ = climb(objective, starts[i : i + 1])
        assert torch.equal(together[i : i + 1], alone)


def test_the_result_is_never_worse_than_the_start_even_on_cliffs(rng):
    def objective(x):
        return torch.where(x[..., 0] > 0.5, -100.0, 1.0) * (1 + x[..., 0]) + (90 * x[..., 1]).sin()

    starts = torch.rand(30, 2, generator=rng, dtype=torch.float64)
    _, value = climb(objective, starts)
    assert (value >= objective(starts)).all()


def test_nan_regions_are_avoided():
    def objective(x):
        return (0.6 - x[..., 0]).sqrt() + 10 * x[..., 0]

    x, value = climb(objective, torch.tensor([[0.2]]).double())
    assert torch.isfinite(value).all()
    assert 0.2 <= x.item() <= 0.6


def test_units_make_badly_scaled_problems_round():
    scales = torch.tensor([1.0, 1e-3]).double()

    def objective(x):
        return -((x - 0.3) / scales).square().sum(-1)

    x, _ = climb(objective, torch.full((1, 2), 0.31).double(), unit=scales, iterations=12)
    torch.testing.assert_close(x, torch.full((1, 2), 0.3).double(), atol=1e-7, rtol=0)


def test_it_works_in_inference_mode_and_gives_ordinary_tensors_outside(rng):
    weights = torch.rand(5, 2, generator=rng, dtype=torch.float64)

    def objective(x):
        return (weights * (7 * x).sin()).sum(-1)

    starts = torch.rand(5, 2, generator=rng, dtype=torch.float64)
    point, value = climb(objective, starts)
    with torch.inference_mode():
        inferred, _ = climb(objective, starts + 0)
    assert torch.equal(point, inferred)
    assert not point.is_inference()
    assert not value.is_inference()


def test_a_climb_ends_when_all_rows_have_arrived():
    calls = []

    def objective(x):
        calls.append(len(x))
        return -(x - 0.3).square().sum(-1)

    start = torch.tensor([[0.9, 0.1], [0.3, 0.3]]).double()
    x, _ = climb(objective, start, tolerance=1e-6)
    assert len(calls) < 10
    torch.testing.assert_close(x, torch.full((2, 2), 0.3).double(), rtol=0, atol=1e-6)
