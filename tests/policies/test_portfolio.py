import itertools

import pytest
import torch

import metabo
from metabo.errors import OptionError
from metabo.loop import rollout
from metabo.policies import FollowList, by_mean_rank, greedy_portfolio
from metabo.seeding import generator

VALUES = torch.tensor([[3.0, 1.0, 2.0, 0.0], [0.0, 3.0, 2.0, 1.0], [0.0, 1.0, 2.0, 3.0]]).double()


def test_the_mean_rank_is_the_written_out_one():
    # Ranks from 0: column 2 has 2, 2, 2; column 1 has 1, 3, 1; column 3 has 0, 1, 3.
    assert by_mean_rank(VALUES).tolist() == [2, 1, 3, 0]


def test_each_member_of_the_portfolio_is_the_best_addition(rng):
    values = torch.rand(6, 9, generator=rng, dtype=torch.float64)
    regret = values.amax(-1, keepdim=True) - values
    order = greedy_portfolio(values).tolist()
    assert sorted(order) == list(range(9))
    for k in range(3):
        rest = [j for j in range(9) if j not in order[:k]]
        left = {j: float(regret[:, [*order[:k], j]].amin(-1).mean()) for j in rest}
        assert left[order[k]] == min(left.values())


def test_the_portfolio_is_near_the_best_pair(rng):
    values = torch.rand(5, 8, generator=rng, dtype=torch.float64)
    regret = values.amax(-1, keepdim=True) - values

    def after(pair):
        return float(regret[:, list(pair)].amin(-1).mean())

    best = min(after(pair) for pair in itertools.combinations(range(8), 2))
    found = after(greedy_portfolio(values)[:2].tolist())
    assert best <= found <= after(by_mean_rank(values)[:1].tolist() * 2)


def test_a_list_is_followed_and_ends():
    family = metabo.family("branin")
    designs = torch.rand(3, 2, dtype=torch.float64)
    tasks = family.sample(4, generator(0, "test tasks"))
    episodes = rollout(FollowList(designs), tasks, family, seed=0, budget=3)
    assert torch.equal(episodes.queries, designs.expand(4, -1, -1))
    with pytest.raises(OptionError, match=r"3 designs.*budget of at most 3"):
        rollout(FollowList(designs), tasks, family, seed=0, budget=4)
