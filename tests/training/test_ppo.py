import math
from dataclasses import replace

import pytest
import torch

import metabo
from metabo.acquisition import NeuralAF
from metabo.seeding import generator
from metabo.training import preset
from metabo.training.critic import Critic
from metabo.training.ppo import advantages, against_group, log_probabilities, loss, update
from metabo.training.rewards import rewards
from metabo.training.rollouts import collect, starting_prior, training_searches
from metabo.training.trainer import Trainer

CONFIG = preset("fast", "branin", hidden=(16,), episodes=6, n_global=40, minibatches=3, sources=10)


def collected(config=CONFIG, budget=5):
    family = metabo.family("branin")
    weights = generator(0, "weights")
    af = NeuralAF(config.architecture(2), weights)
    critic = Critic(config, weights)
    tasks = family.sample(config.episodes, generator(0, "training tasks/0"))
    (search, *_) = training_searches(config, family)
    prior = starting_prior(config, family)
    batch, episodes = collect(
        af, critic, tasks, family, config, search, budget=budget, seed=0, prior=prior
    )
    return af, critic, batch, episodes


def test_gae_is_the_hand_computed_sum():
    earned = torch.tensor([[1.0, 2.0, 3.0]])
    values = torch.tensor([[0.5, 1.0, 2.0]])
    gamma, lam = 0.9, 0.8
    # delta_t = r_t + gamma V_{t+1} - V_t, and nothing follows the last step.
    d0, d1, d2 = 1 + 0.9 * 1.0 - 0.5, 2 + 0.9 * 2.0 - 1.0, 3 - 2.0
    expected = [d0 + 0.72 * (d1 + 0.72 * d2), d1 + 0.72 * d2, d2]
    assert advantages(earned, values, gamma, lam)[0].tolist() == pytest.approx(expected)


def test_with_lambda_one_advantages_are_returns_less_values():
    earned, values = torch.rand(4, 6), torch.rand(4, 6)
    returns = torch.stack(
        [sum(0.9**k * earned[:, t + k] for k in range(6 - t)) for t in range(6)], 1
    )
    torch.testing.assert_close(advantages(earned, values, 0.9, 1.0), returns - values)


def test_rewards_are_logarithms_with_a_floor_or_minus_the_regret():
    regret = torch.tensor([[10.0, 1e-3, 0.0]])
    assert rewards(regret, "log", 1e-5)[0].tolist() == pytest.approx([-1.0, 3.0, 5.0])
    assert rewards(regret, "linear", 1e-5)[0].tolist() == pytest.approx([-10.0, -1e-3, 0.0])


@pytest.mark.parametrize("candidates", ["fine", "grid"])
def test_log_probabilities_from_stored_features_are_those_at_the_time(candidates):
    af, _, batch, _ = collected(replace(CONFIG, candidates=(candidates,)))
    again = log_probabilities(af, batch.features, batch.exists)
    chosen = again.gather(1, batch.index[:, None])[:, 0]
    torch.testing.assert_close(chosen, batch.log_old, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(again.exp().sum(-1), torch.ones(len(again)))


def test_padding_is_never_chosen_and_changes_nothing():
    af, critic, batch, _ = collected()
    assert not batch.exists.all()  # the first step has no clouds
    assert batch.exists.gather(1, batch.index[:, None]).all()
    longer = replace(
        batch,
        features=torch.nn.functional.pad(batch.features, (0, 0, 0, 7), value=9.0),
        exists=torch.nn.functional.pad(batch.exists, (0, 7), value=False),
    )
    rows = torch.arange(len(batch.index))
    torch.testing.assert_close(
        loss(af, critic, batch, rows, CONFIG, 0.01)[1],
        loss(af, critic, longer, rows, CONFIG, 0.01)[1],
    )


def test_entropy_counts_by_its_bonus():
    af, critic, batch, _ = collected()
    rows = torch.arange(len(batch.index))
    without, (_, _, entropy, _) = loss(af, critic, batch, rows, CONFIG, 0.0)
    total, _ = loss(af, critic, batch, rows, CONFIG, torch.tensor(0.5))
    torch.testing.assert_close(total, without - 0.5 * entropy)


def test_before_any_update_nothing_is_clipped_and_the_policy_loss_is_zero():
    af, critic, batch, _ = collected()
    _, (policy, _, entropy, clipped) = loss(
        af, critic, batch, torch.arange(len(batch.index)), CONFIG, 0.01
    )
    assert policy.item() == pytest.approx(-batch.advantage.mean().item(), abs=1e-5)
    assert clipped.item() == 0
    assert 0 < entropy.item() <= math.log(batch.features.shape[1])


@pytest.mark.parametrize("kind", ["step", "regret"])
def test_the_critic_is_shown_td_lambda_returns(kind):
    _, critic, batch, episodes = collected(replace(CONFIG, critic=kind))
    earned = rewards(episodes.regret, "log", 1e-6).float()
    step = torch.arange(5).expand(6, -1)
    before = torch.cat([torch.zeros(6, 1), episodes.regret[:, :-1].float()], 1)
    with torch.no_grad():
        values = critic(step, 5, before)
    expected = advantages(earned, values, CONFIG.gamma, CONFIG.gae_lambda) + values
    torch.testing.assert_close(batch.target, expected.flatten())


def test_an_update_makes_good_choices_likelier():
    af, critic, batch, _ = collected()
    good = batch.advantage > batch.advantage.mean()
    before = batch.log_old
    optimizer = torch.optim.Adam([*af.parameters(), *critic.parameters()], lr=1e-3)
    for number in range(5):
        source = generator(number, "minibatches")
        order = torch.stack([torch.randperm(len(good), generator=source) for _ in range(4)])
        assert update(af, critic, optimizer, batch, order, CONFIG, 0.01).isfinite().all()
    after = log_probabilities(af, batch.features, batch.exists)
    change = after.gather(1, batch.index[:, None])[:, 0].detach() - before
    assert change[good].mean() > change[~good].mean() + 0.01


def test_the_critics_loss_does_not_decide_how_far_the_policy_moves():
    config = replace(CONFIG, max_gradient_norm=0.1)
    moved = []
    for coefficient in (1.0, 1000.0):
        af, critic, batch, _ = collected()
        # No moments: what is left of a gradient after clipping is what moves.
        optimizer = torch.optim.SGD([*af.parameters(), *critic.parameters()], lr=1.0)
        order = torch.arange(len(batch.index))[None]
        weighted = replace(config, value_coefficient=coefficient)
        update(af, critic, optimizer, batch, order, weighted, 0.01)
        moved.append(torch.cat([p.detach().flatten() for p in af.parameters()]))
    torch.testing.assert_close(*moved, rtol=0, atol=0)


def test_a_group_is_judged_against_itself(rng):
    advantage = torch.randn(6, 4, generator=rng)
    judged = against_group(advantage, 3)
    for task in range(2):
        own = advantage[3 * task : 3 * task + 3]
        torch.testing.assert_close(judged[3 * task : 3 * task + 3], own - own.mean(0))
    # How hard a task is does not count any more.
    harder = advantage + torch.tensor([5.0] * 3 + [0.0] * 3)[:, None]
    torch.testing.assert_close(against_group(harder, 3), judged)
    assert torch.equal(against_group(advantage, 1), advantage)


def test_a_group_meets_one_task(tmp_path):
    config = replace(CONFIG, group=3)
    trainer = Trainer(config, tmp_path)
    seen = []
    original = trainer.collect
    trainer.collect = lambda tasks, *rest: seen.append(tasks.optimum) or original(tasks, *rest)
    trainer._iterate(0.0)
    first, second = seen[0].view(2, 3)
    assert len(first.unique()) == len(second.unique()) == 1
    assert first[0] != second[0]


def test_a_critic_is_told_the_regret_before_a_step_and_not_after_it():
    for kind in ("step", "regret"):
        _, critic, batch, episodes = collected(replace(CONFIG, critic=kind))
        other = critic(batch.step, 5, 10 * batch.regret + 1)
        same = critic(batch.step, 5, batch.regret)
        is_told = (other != same).unflatten(0, (6, 5))
        assert not is_told[:, 0].any()  # there is no regret before the first evaluation
        assert bool(is_told[:, 1:].any()) == (kind == "regret")
        torch.testing.assert_close(
            batch.regret.unflatten(0, (6, 5))[:, 1:], episodes.regret[:, :-1].float()
        )
