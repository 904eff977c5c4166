import torch

from metabo.metrics import (
    bootstrap_mean,
    bootstrap_median,
    bootstrap_steps,
    fraction_solved,
    quantiles,
    simple_regret,
    steps_to,
)

REGRET = torch.tensor([[3.0, 1.0, 0.5], [4.0, 4.0, 4.0], [0.2, 0.2, 0.1]], dtype=torch.float64)


def test_without_noise_regret_is_the_distance_to_the_best_value_so_far():
    values = torch.tensor([[1.0, 3.0, 2.0, 5.0]], dtype=torch.float64)
    regret = simple_regret(values, values, torch.tensor([5.0], dtype=torch.float64))
    assert regret.tolist() == [[4.0, 2.0, 2.0, 0.0]]


def test_with_noise_the_best_observed_location_counts():
    values = torch.tensor([[1.0, 3.0, 2.0]], dtype=torch.float64)
    observed = torch.tensor([[1.0, 3.0, 3.5]], dtype=torch.float64)
    regret = simple_regret(values, observed, torch.tensor([5.0], dtype=torch.float64))
    assert regret.tolist() == [[4.0, 2.0, 3.0]]


def test_quantiles_are_taken_over_episodes():
    low, median, high = quantiles(REGRET, [0.0, 0.5, 1.0])
    assert low.tolist() == [0.2, 0.2, 0.1]
    assert median.tolist() == [3.0, 1.0, 0.5]
    assert high.tolist() == [4.0, 4.0, 4.0]


def test_fraction_solved_counts_episodes():
    assert fraction_solved(REGRET, 1.0).tolist() == [1 / 3, 2 / 3, 2 / 3]


def test_steps_to_counts_from_one_and_says_never():
    assert steps_to(REGRET, 1.0).tolist() == [2, 4, 1]


def test_the_bootstrap_interval_covers_the_mean_as_often_as_it_says(rng):
    covered = 0
    for seed in range(200):
        sample = torch.randn(30, 1, generator=rng, dtype=torch.float64)
        low, _, high = bootstrap_mean(sample, seed=seed, draws=300)[:, 0]
        covered += bool(low <= 0 <= high)
    assert 160 <= covered <= 195  # 90 % of 200, less what 30 points cost, within three deviations


def test_the_bootstrap_interval_of_equal_tasks_is_a_point():
    curve = torch.tensor([[3.0, 2.0]]).double().expand(5, -1)
    assert torch.equal(bootstrap_mean(curve), curve[:3])
    assert torch.equal(bootstrap_median(curve), curve[:3])


def test_an_interval_of_the_median_does_not_mind_one_wild_task(rng):
    tasks = torch.randn(101, 1, generator=rng, dtype=torch.float64)
    wild = tasks.clone()
    wild[tasks.argmax()] = 1e9
    torch.testing.assert_close(bootstrap_median(wild), bootstrap_median(tasks))
    low, median, high = bootstrap_median(tasks)[:, 0]
    assert low < median < high
    assert high - low < 0.8


def test_steps_have_an_interval_that_holds_them_and_one_too_many_for_never(rng):
    noise = torch.rand(101, 1, generator=rng, dtype=torch.float64)
    regret = 2.0 - 0.1 * torch.arange(20, dtype=torch.float64) + noise
    low, steps, high = bootstrap_steps(regret, 1.0)
    assert low <= steps <= high
    assert high - low <= 4
    assert steps == int(steps_to(regret.quantile(0.5, 0)[None], 1.0))
    assert bootstrap_steps(regret, -9.0) == (21, 21, 21)
    same = torch.tensor([[3.0, 1.0, 0.5]]).double().expand(4, -1)
    assert bootstrap_steps(same, 1.0) == (2, 2, 2)


def test_summaries_of_many_tasks_in_parts_are_those_at_once(monkeypatch, rng):
    regret = torch.rand(11, 5, generator=rng, dtype=torch.float64)
    levels = [0.3, 0.5, 0.7]
    whole = quantiles(regret, levels), bootstrap_mean(regret, draws=40)
    monkeypatch.setattr("metabo.metrics._AT_ONCE", 3 * regret.numel())
    assert torch.equal(bootstrap_mean(regret, draws=40), whole[1])
    monkeypatch.setattr("metabo.metrics._AT_ONCE", 2 * len(regret))
    assert torch.equal(quantiles(regret, levels), whole[0])
