from itertools import product

import pytest
import torch

from metabo import Choice, Float, Int, Space
from metabo.acquisition import EI, UCB
from metabo.domain import Box, Finite, sobol
from metabo.gp import Prior
from metabo.policies import Enumerate, Projected, in_space, searcher
from metabo.policies.searchers.candidates import evaluate
from metabo.policies.searchers.projected import ProjectedState
from metabo.space.discrete import first_points
from metabo.state import BOState

MIXED = Space({"x": Float(0.0, 1.0), "n": Int(1, 5), "kind": Choice(("a", "b", "c"))})
DISCRETE = Space({"n": Int(1, 40), "m": Int(1, 60, log=True), "kind": Choice(("a", "b"))})


def state_of(space, t=6):
    prior = Prior.of([0.4] * space.dim, signal_variance=1.0, noise_variance=1e-6)
    state = BOState.start(prior, episodes=1, budget=20)
    for i, x in enumerate(space.project(sobol(t, space.dim))):
        state = state.observe(x[None], torch.tensor([(7.0 * i) % 3], dtype=torch.float64))
    return state


@pytest.mark.parametrize("search", ["gradient", "sobol"])
@pytest.mark.parametrize("space", [MIXED, DISCRETE], ids=["mixed", "discrete"])
def test_the_score_is_that_of_the_point_to_be_evaluated(space, search):
    state = state_of(space)
    found = Projected(searcher(search, Box(space.dim)), space).candidates(state, EI())
    x = found.belief.x
    torch.testing.assert_close(space.project(x), x, rtol=0, atol=1e-12)
    keep = found.score > -torch.inf
    again = evaluate(state, EI(), x)
    torch.testing.assert_close(found.score[keep], again.score[keep], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(found.belief.mean, again.belief.mean, rtol=1e-9, atol=1e-12)


def test_the_search_reaches_the_best_of_all_points():
    state = state_of(DISCRETE)
    points = first_points(DISCRETE, 10**6)
    exact = evaluate(state, EI(), points[None]).score.max()
    found = Projected(searcher("gradient", Box(DISCRETE.dim)), DISCRETE).candidates(state, EI())
    assert found.score.max() >= 0.99 * exact


@pytest.mark.parametrize("t", [4, 9, 15])
def test_in_a_mixed_space_it_finds_what_a_grid_in_every_cell_finds(t):
    state = state_of(MIXED, t)
    rows = []
    for n, kind in product(range(1, 6), "abc"):
        cell = MIXED.encode({"x": 0.0, "n": n, "kind": kind}).expand(500, -1).clone()
        cell[:, 0] = torch.linspace(0, 1, 500)
        rows.append(cell)
    grid = evaluate(state, EI(), torch.cat(rows)[None]).score.max()
    found = Projected(searcher("gradient", Box(MIXED.dim)), MIXED).candidates(state, EI())
    assert found.score.max() >= 0.999 * grid


def test_slopes_are_zero_in_discrete_coordinates():
    x = sobol(3, MIXED.dim)[None]
    _, pullback = ProjectedState.of(state_of(MIXED), MIXED).belief_with_pullback(x)
    ones = torch.ones_like(x)
    slope = pullback(ones[..., 0], ones[..., 0], ones)
    assert (slope[..., 0] != 0).all()
    assert (slope[..., 1:] == 0).all()


def test_queried_points_of_a_large_discrete_space_score_last():
    state = state_of(DISCRETE, t=30)
    found = Projected(searcher("gradient", Box(DISCRETE.dim)), DISCRETE).candidates(
        state, UCB(0.0)
    )
    queried = {tuple(DISCRETE.decode(x).values()) for x in state.history.x[0]}
    is_seen = [tuple(DISCRETE.decode(x).values()) in queried for x in found.belief.x[0]]
    assert any(is_seen)
    assert (found.score[0] == -torch.inf).tolist() == is_seen


def test_a_space_decides_domain_and_search():
    domain, search = in_space("grid", Space.cube(2))
    assert domain == Box(2)
    assert search == searcher("grid", Box(2))
    domain, search = in_space("gradient", Space({"n": Int(1, 9)}))
    assert isinstance(domain, Finite)
    assert search == Enumerate(domain, repeats=False)
    domain, search = in_space("gradient", MIXED)
    assert isinstance(domain, Box)
    assert isinstance(search, Projected)
