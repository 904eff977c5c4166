import pytest
import torch

import metabo
from metabo.acquisition import Schedule
from metabo.domain import Box
from metabo.loop import rollout
from metabo.policies import EpsilonGreedy, RandomSearch
from metabo.seeding import Noise, generator
from metabo.state import BOState

ELSEWHERE = RandomSearch(Box(2))


def designs(n, rng):
    return torch.rand(n, 2, generator=rng, dtype=torch.float64)


def is_design(queries, points):
    return (queries[:, :, None, :] == points).all(-1)  # E T N


@pytest.mark.parametrize("epsilon", [Schedule(1.0), Schedule(0.6), Schedule()])
def test_no_design_is_queried_twice(epsilon, rng):
    family, points = metabo.family("branin"), designs(7, rng)
    tasks = family.sample(20, generator(0, "test tasks"))
    run = rollout(EpsilonGreedy(points, epsilon, ELSEWHERE), tasks, family, seed=0)
    times = is_design(run.queries, points).sum(1)
    assert times.max() == 1
    if epsilon == Schedule(1.0):
        assert (times == 1).all()
        assert is_design(run.queries, points).any(-1)[:, :7].all()


def test_designs_come_in_any_order_and_as_often_as_epsilon_says(rng):
    family, points = metabo.family("branin"), designs(5, rng)
    state = BOState.start(family.prior, episodes=4000, budget=30)
    noise = Noise.at(0, episodes=torch.arange(4000), step=0)
    x = EpsilonGreedy(points, Schedule(0.3), ELSEWHERE).propose(state, noise).x
    shares = is_design(x[:, None], points)[:, 0].double().mean(0)
    torch.testing.assert_close(shares, torch.full_like(shares, 0.06), rtol=0, atol=0.012)


def test_without_epsilon_it_is_the_other_policy(rng):
    family = metabo.family("branin")
    state = BOState.start(family.prior, episodes=9, budget=30)
    noise = Noise.at(0, episodes=torch.arange(9), step=0)
    policy = EpsilonGreedy(designs(5, rng), Schedule(0.0), ELSEWHERE)
    assert torch.equal(policy.propose(state, noise).x, ELSEWHERE.propose(state, noise).x)
