import pytest
import torch
from families import APPROXIMATE, NUMBERED, params

import metabo
from metabo.acquisition import EI
from metabo.domain import Finite, sobol
from metabo.evaluation import Setting, method
from metabo.loop import rollout
from metabo.policies import Maximize, RandomSearch, StartAt, searcher
from metabo.seeding import generator
from metabo.tasks.family import ParametricFamily


def run(name, n=5, seed=0, budget=6, policy=None, **options):
    family = metabo.family(name)
    tasks = family.sample(n, generator(0, "test tasks"))
    policy = policy or RandomSearch(family.domain)
    return rollout(policy, tasks, family, seed=seed, budget=budget, **options)


@pytest.mark.parametrize("name", params(NUMBERED))
def test_episodes_record_what_happened(name):
    family = metabo.family(name)
    tasks = family.sample(5, generator(0, "test tasks"))
    episodes = run(name)
    torch.testing.assert_close(episodes.values, tasks(episodes.queries))
    assert torch.equal(episodes.observed, episodes.values)
    assert torch.equal(episodes.optimum, tasks.optimum)
    expected = tasks.optimum[:, None] - episodes.values.cummax(-1).values
    assert torch.equal(episodes.regret, expected)
    assert name in APPROXIMATE or (episodes.regret > -1e-10).all()


def test_the_seed_decides_everything():
    assert torch.equal(run("branin").queries, run("branin").queries)
    assert not torch.equal(run("branin").queries, run("branin", seed=1).queries)


@pytest.mark.parametrize("search", ["grid", "gradient"])
def test_an_episode_alone_repeats_its_lockstep_run(search):
    family = metabo.family("branin")
    policy = StartAt(0.5, Maximize(EI(), searcher(search, family.domain)), family.domain)
    tasks = family.sample(4, generator(0, "test tasks"))
    together = rollout(policy, tasks, family, seed=3, budget=8)
    one = torch.tensor([2])
    alone = rollout(policy, tasks.take(one), family, seed=3, budget=8, episodes=one)
    torch.testing.assert_close(together.queries[2:3], alone.queries, rtol=0, atol=1e-6)


def test_a_longer_budget_begins_as_the_shorter():
    assert torch.equal(run("branin", budget=9).queries[:, :4], run("branin", budget=4).queries)


def test_noise_is_seen_by_the_run_and_not_by_the_regret():
    family = metabo.family("branin", noise=0.3)
    tasks = family.sample(400, generator(0, "test tasks"))
    episodes = rollout(RandomSearch(family.domain), tasks, family, seed=0, budget=10)
    error = episodes.observed - episodes.values
    assert error.mean().abs() < 0.02
    assert abs(error.std().item() - 0.3) < 0.01
    torch.testing.assert_close(episodes.values, tasks(episodes.queries))
    assert (episodes.regret >= -1e-10).all()
    assert (episodes.regret.diff(dim=-1) > 0).any()  # a lucky error can displace a better point


class AtSixPoints(ParametricFamily):
    """A family whose tasks may be queried at six points only."""

    @property
    def domain(self):
        return Finite(sobol(6, 2))


@pytest.mark.parametrize("name", ["ei", "ucb", "random"])
def test_a_finite_domain_is_searched_to_its_end(name):
    family = AtSixPoints(**vars(metabo.family("branin")) | {"budget": 8})
    points = family.domain.points
    tasks = family.sample(3, generator(0, "test tasks"))
    policy = method(name, Setting(family, searcher("gradient", family.domain)))
    episodes = rollout(policy, tasks, family, seed=0)
    assert (episodes.queries[:, :, None] == points).all(-1).any(-1).all()
    best = tasks(points.expand(3, -1, -1)).amax(-1)
    torch.testing.assert_close(episodes.regret[:, -1], tasks.optimum - best)


def test_steps_are_reported():
    seen = []
    run("rhino-1", budget=4, on_step=lambda step, proposal: seen.append(step))
    assert seen == [1, 2, 3, 4]


@pytest.mark.gpu
def test_devices_run_the_same_episodes(cuda):
    family = metabo.family("hartmann-3")
    policy = StartAt(0.5, Maximize(EI(), searcher("grid", family.domain)), family.domain)
    tasks = family.sample(4, generator(0, "test tasks"))
    here = rollout(policy, tasks, family, seed=0, budget=4)
    there = rollout(policy, tasks.to(cuda), family, seed=0, budget=4)
    torch.testing.assert_close(here.queries, there.queries.cpu(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["ei", "metabo"])
def test_inference_mode_changes_nothing(name):
    family = metabo.family("branin")
    tasks = family.sample(2, generator(0, "test tasks"))
    policy = method(name, Setting(family, searcher("gradient", family.domain)))
    usual = rollout(policy, tasks, family, seed=0, budget=4)
    with torch.inference_mode():
        inferred = rollout(policy, tasks, family, seed=0, budget=4)
    assert torch.equal(usual.queries, inferred.queries)
