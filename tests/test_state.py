import learned
import pytest
import torch

import metabo
from metabo.errors import DataError, DomainError, ShapeError
from metabo.gp import LearnedPart, Prior, reduction
from metabo.gp.cells import ONE
from metabo.state import BOState

PRIOR = Prior.of([0.3, 0.4], signal_variance=1.0, noise_variance=1e-6)


def start():
    return BOState.start(PRIOR, episodes=2, budget=5)


def observed(y=(0.5, -1.0)):
    x = torch.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=torch.float64)
    return start().observe(x, torch.tensor(y, dtype=torch.float64))


def test_before_any_observation_the_best_value_is_the_prior_mean():
    assert start().best.tolist() == [0.0, 0.0]


def test_before_any_observation_a_learned_prior_expects_a_usual_value_of_its_sources():
    prior = learned.prior()
    state = BOState.start(prior, episodes=2, budget=5)
    assert state.best.tolist() == 2 * [float(prior.learned.usual)]


def test_a_usual_value_is_at_most_the_average_of_the_sources_however_far_off_their_level_is():
    z = torch.rand(60, 2, generator=torch.Generator().manual_seed(0)).double()
    bowl = (z - 0.5).square().sum(-1)[None]
    part = LearnedPart.interpolating(
        z, bowl, kernel="rbf", lengthscale=[1.0, 1.0], cells=ONE, has_level=True
    )
    assert float(part.level) > float(bowl.max())
    torch.testing.assert_close(part.usual, bowl.mean(), rtol=1e-3, atol=0)


def test_the_best_value_is_the_largest_observed_even_below_zero():
    assert observed().best.tolist() == [0.5, -1.0]


def test_observing_counts_and_leaves_the_earlier_state_alone():
    state = start()
    after = state.observe(torch.full((2, 2), 0.5).double(), torch.zeros(2).double())
    assert (state.n_observed, int(state.step)) == (0, 0)
    assert (after.n_observed, int(after.step), int(after.budget)) == (1, 1, 5)
    assert torch.equal(after.history.x[:, 0], torch.full((2, 2), 0.5).double())


def test_a_belief_is_what_the_gp_predicts():
    state = observed()
    x = torch.rand(2, 7, 2, dtype=torch.float64)
    belief = state.belief(x)
    mean, std = state.gp.predict(x)
    assert torch.equal(belief.mean, mean)
    assert torch.equal(belief.std, std)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_are_refused(bad):
    with pytest.raises(DataError, match=r"must be finite, but got -?(nan|inf) in episode 1"):
        observed((0.0, bad))


def test_points_outside_the_cube_are_refused():
    with pytest.raises(DomainError, match="unit cube"):
        start().observe(torch.full((2, 2), 1.5).double(), torch.zeros(2).double())


def test_shapes_that_do_not_fit_are_refused(unchecked):
    with pytest.raises(ShapeError, match=r"axis of size 2 \(the domain's dimension\)"):
        start().observe(torch.zeros(2, 3).double(), torch.zeros(2).double())
    with pytest.raises(ShapeError, match=r"axes `E D` with E = 2 \(the episodes\)"):
        start().observe(torch.zeros(3, 2).double(), torch.zeros(2).double())
    with pytest.raises(ShapeError, match=r"axes `E` .* shape \(2, 1\)"):
        start().observe(torch.zeros(2, 2).double(), torch.zeros(2, 1).double())


def test_a_run_needs_episodes_and_a_budget():
    with pytest.raises(ShapeError, match="a budget of at least 1, but got 2 and 0"):
        BOState.start(metabo.family("branin").prior, episodes=2, budget=0)


def test_many_observations_at_once_are_those_one_by_one(rng):
    x = torch.rand(2, 7, 2, generator=rng, dtype=torch.float64)
    y = torch.randn(2, 7, generator=rng, dtype=torch.float64)
    one_by_one = start()
    for t in range(7):
        one_by_one = one_by_one.observe(x[:, t], y[:, t])
    at_once = BOState.after(PRIOR, x, y, budget=5)
    assert (int(at_once.step), int(at_once.budget)) == (7, 5)
    at = torch.rand(2, 20, 2, generator=rng, dtype=torch.float64)
    for ours, theirs in zip(at_once.gp.predict(at), one_by_one.gp.predict(at), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-8)
    with pytest.raises(DataError, match="must be finite, but got nan in episode 1"):
        BOState.after(PRIOR, x, y.where(y != y[1, 3], torch.nan), budget=5)


def test_a_state_knows_all_observations_when_its_gp_does_not(rng, monkeypatch):
    monkeypatch.setattr(reduction, "MOST_SEEN", 20)
    x = torch.rand(2, 30, 2, generator=rng, dtype=torch.float64)
    y = x.sin().sum(-1)
    state = BOState.after(PRIOR, x, y, budget=40)
    assert state.gp.x.shape == (2, 20, 2)
    new_x, new_y = x[:, 3] / 2, y[:, 3] + 100
    for _ in range(2):
        assert torch.equal(state.history.x, x)
        assert torch.equal(state.history.y, y)
        assert torch.equal(state.best, y.amax(-1))
        assert (state.n_observed, int(state.step)) == (x.shape[1], x.shape[1])
        assert state.belief(x[:, :4]).history is state.history
        state = state.observe(new_x, new_y)
        x, y = torch.cat([x, new_x[:, None]], 1), torch.cat([y, new_y[:, None]], 1)
    assert state.gp.x.shape == (2, 22, 2)
