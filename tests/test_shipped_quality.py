"""What the shipped acquisition functions are for, on tasks that nothing was chosen by."""

import pytest

import metabo


@pytest.mark.slow
@pytest.mark.parametrize("sources", ["", "-50"])
@pytest.mark.parametrize("name", ["branin", "goldstein-price", "hartmann-3"])
def test_ten_evaluations_get_further_than_eis_fifteen(name, sources):
    run = metabo.evaluate(
        name, methods=["metabo", "ei"], tasks=10, seed=11, artifact=name + sources
    )
    ours, ei = (run.methods[method].regret.median(0).values for method in ("metabo", "ei"))
    assert ours[9] < 0.3 * ei[14]


@pytest.mark.slow
def test_a_grid_search_finds_the_way_to_branins_maximum():
    """Without the posterior mean in the score, seven of ten grid searches missed it at t = 10."""
    from grid_misses import watch

    assert watch(metabo.load("branin"), 12, 10)["apart"][-1] <= 0.25
