import pytest
import torch

import metabo
from metabo.acquisition import EI, UCB, LogEI
from metabo.domain import Finite, lattice, sobol
from metabo.errors import OptionError
from metabo.gp import Prior
from metabo.policies import (
    Enumerate,
    GradientRefine,
    HierarchicalGrid,
    Maximize,
    Sample,
    queried,
    searcher,
)
from metabo.seeding import Noise
from metabo.state import BOState


def grown(name, rng, episodes=4, t=8):
    family = metabo.family(name)
    tasks = family.sample(episodes, rng)
    state = BOState.start(family.prior, episodes=episodes, budget=family.budget)
    for _ in range(t):
        x = torch.rand(episodes, family.domain.dim, generator=rng, dtype=torch.float64)
        state = state.observe(x, tasks(x[:, None])[:, 0])
    return state


def inside(x):
    return bool(((x >= 0) & (x <= 1)).all())


@pytest.mark.parametrize(("dim", "sizes"), [(1, (500, 500)), (2, (961, 1000)), (3, (1728, 2000))])
def test_the_papers_grid_has_its_published_size(dim, sizes, rng):
    name = {1: "rhino-1", 2: "branin", 3: "hartmann-3"}[dim]
    grid = HierarchicalGrid.paper(dim)
    found = grid.candidates(grown(name, rng), EI())
    assert found.score.shape == (4, 5 + sizes[0])
    assert grid.n_local == sizes[1]


@pytest.mark.parametrize("grid", ["lattice", "sobol"])
def test_local_points_are_the_best_of_cubes_around_the_best_grid_points(grid, rng):
    state = grown("branin", rng, episodes=2)
    search = HierarchicalGrid(100, 50, k=3, grid=grid)
    found = search.candidates(state, EI())
    points = lattice(10, 2) if grid == "lattice" else sobol(100, 2)
    for e in range(2):
        assert torch.equal(found.belief.x[e, 3:], points)
        coarse = EI()(state.belief(points.expand(2, -1, -1)))[e]
        torch.testing.assert_close(found.score[e, 3:], coarse, rtol=1e-9, atol=1e-14)
        pool = []
        for centre in points[coarse.topk(3).indices]:
            low, high = (centre - 0.1).clamp(min=0), (centre + 0.1).clamp(max=1)
            pool.append(low + sobol(50, 2) * (high - low))
        pool = torch.cat(pool)
        values = EI()(state.belief(pool.expand(2, -1, -1)))[e]
        top = values.topk(3)
        torch.testing.assert_close(found.score[e, :3], top.values, rtol=1e-9, atol=1e-14)
        torch.testing.assert_close(found.belief.x[e, :3], pool[top.indices])


@pytest.mark.parametrize("name", ["rhino-1", "branin", "goldstein-price", "hartmann-3"])
@pytest.mark.parametrize("af", [EI(), LogEI(), UCB()], ids=repr)
def test_the_gradient_search_beats_a_dense_grid(name, af, rng):
    state = grown(name, rng)
    search = searcher("gradient", metabo.family(name).domain)
    found = search.candidates(state, af)
    assert inside(found.belief.x)
    dense = sobol(20_000, state.gp.prior.dim).expand(4, -1, -1)
    reference = af(state.belief(dense)).amax(-1)
    best = found.score.amax(-1)
    assert (best >= reference - 1e-6 * reference.abs()).all()
    torch.testing.assert_close(found.score, af(state.belief(found.belief.x)))


def test_the_gradient_search_finds_a_spike_beside_the_incumbent(rng):
    state = grown("branin", rng, episodes=1, t=20)
    best = state.history.x[0, state.history.y[0].argmax()]
    for shift in (0.01, -0.01, 0.004):
        x = (best + shift).clamp(0, 1)[None]
        state = state.observe(x, state.belief(x[None]).mean[0] + 1e-4)
    reference = (
        EI()(state.belief((best + 0.05 * (sobol(20_000, 2) - 0.5)).clamp(0, 1)[None])).max().item()
    )
    assert GradientRefine().candidates(state, EI()).score.max().item() >= reference * (1 - 1e-6)


def test_maxima_on_faces_and_corners_are_reached(rng):
    state = BOState.start(metabo.family("branin").prior, episodes=1, budget=30)
    state = state.observe(torch.full((1, 2), 0.5).double(), torch.zeros(1).double())
    found = GradientRefine().candidates(state, EI())
    best = found.belief.x[0, found.score[0].argmax()]
    assert set(best.tolist()) <= {0.0, 1.0}


def test_finite_domains_are_scored_whole(rng):
    points = torch.rand(57, 2, generator=rng, dtype=torch.float64)
    state = grown("branin", rng)
    found = Enumerate(Finite(points)).candidates(state, EI())
    assert torch.equal(found.belief.x, points.expand(4, -1, -1))
    torch.testing.assert_close(found.score, EI()(state.belief(points.expand(4, -1, -1))))
    assert isinstance(searcher("gradient", Finite(points)), Enumerate)


@pytest.mark.parametrize("search", ["gradient", "grid", "sobol"])
def test_searches_work_before_the_first_observation(search):
    family = metabo.family("hartmann-3")
    state = BOState.start(family.prior, episodes=2, budget=30)
    found = searcher(search, family.domain).candidates(state, EI())
    assert inside(found.belief.x)
    assert torch.isfinite(found.score).all()


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_empty_searches_are_refused(sizes):
    with pytest.raises(OptionError, match="at least one global point"):
        HierarchicalGrid(*sizes)


def test_a_lattice_of_too_many_dimensions_is_refused():
    prior = Prior.of([0.3] * 12, signal_variance=1.0, noise_variance=1e-6)
    state = BOState.start(prior, episodes=1, budget=2)
    with pytest.raises(OptionError, match="Use the search `sobol` or `gradient`"):
        HierarchicalGrid.paper(12).candidates(state, EI())
    assert HierarchicalGrid.paper(12, "sobol").candidates(state, EI()).score.shape == (1, 4005)


def test_an_unknown_search_is_named(unchecked):
    with pytest.raises(OptionError, match=r"Unknown search `gird`. Did you mean `grid`"):
        searcher("gird", metabo.family("branin").domain)


def test_an_af_without_any_slope_is_no_trouble(rng):
    state = grown("branin", rng)
    found = GradientRefine().candidates(state, lambda belief: belief.mean * 0 + 1)
    assert torch.isfinite(found.belief.x).all()


@pytest.mark.parametrize("policy", [Maximize, Sample])
def test_without_repeats_every_point_comes_once_before_any_comes_again(policy, rng):
    points = torch.rand(5, 2, generator=rng, dtype=torch.float64)
    prior = Prior.of([0.3, 0.3], signal_variance=1.0, noise_variance=1e-4)
    chooser = policy(EI(), Enumerate(Finite(points), repeats=False))
    state = BOState.start(prior, episodes=3, budget=8)
    for step in range(8):
        noise = Noise.at(0, episodes=torch.arange(3), step=step)
        x = chooser.propose(state, noise).x
        state = state.observe(x, x.sum(-1))
    for queries in state.history.x:
        assert len(queries[:5].unique(dim=0)) == 5


def test_a_point_is_queried_even_if_its_last_digit_differs(rng):
    state, points = grown("branin", rng, t=3), sobol(5, 2)
    one = points[2].expand(4, -1) * (1 - 1e-15)
    after = state.observe(one, torch.zeros(4, dtype=torch.float64))
    assert not bool(queried(points.expand(4, -1, -1), state.history).any())
    assert queried(points.expand(4, -1, -1), after.history).nonzero()[:, 1].tolist() == [2] * 4
    found = Enumerate(Finite(points), repeats=False).candidates(after, EI())
    assert bool((found.score[:, 2] == -torch.inf).all())
