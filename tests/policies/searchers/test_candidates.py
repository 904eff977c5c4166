import torch

import metabo
from metabo.acquisition import EI
from metabo.domain import sobol
from metabo.policies.searchers import candidates as module
from metabo.policies.searchers.candidates import any_best, best, evaluate, first_best, within
from metabo.state import BOState


def scores(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def test_the_lowest_index_wins_among_scores_that_agree_to_nine_digits():
    score = scores([0.1, 1 - 1e-10, 1.0, 1 - 1e-8], [-2.0, -1.0, -1 - 1e-10, -1.0])
    assert first_best(score).tolist() == [1, 1]


def test_any_of_the_tied_wins_with_equal_chance():
    score = scores([0.1, 1.0, 0.5, 1 - 1e-10, 1.0]).expand(3000, -1)
    draws = ((torch.arange(3000) + 0.5) / 3000).double()[:, None]
    counts = any_best(score, draws).bincount(minlength=5)
    assert counts.tolist() == [0, 1000, 0, 1000, 1000]


def test_a_clear_winner_needs_no_luck():
    score = scores([0.1, 1.0, 0.5])
    for draw in (1e-17, 0.5, 1 - 1e-16):
        assert any_best(score, scores([draw])).tolist() == [1]


def test_best_is_sorted_and_never_repeats(rng):
    score = torch.rand(6, 40, generator=rng, dtype=torch.float64)
    assert torch.equal(best(score, 7), score.topk(7).indices)
    assert best(score[:, :3], 5).shape == (6, 3)


def test_best_passes_over_neighbours():
    points = scores([0.0, 0.05, 0.5, 0.7, 0.9])[..., None]
    score = scores([0.9, 1.0, 0.8, 0.1, 0.2])
    assert best(score, 3, within(points, 0.1)).tolist() == [[1, 2, 4]]


def test_neighbours_are_those_of_the_whole_matrix_of_distances(rng):
    score = torch.rand(3, 200, generator=rng, dtype=torch.float64)
    points = torch.rand(3, 200, 2, generator=rng, dtype=torch.float64)
    for shared in (points, points[:1].expand(3, -1, -1)):
        near = (torch.cdist(shared, shared, p=torch.inf) < 0.2).expand(3, -1, -1)
        for e, found in enumerate(best(score, 6, within(shared, 0.2))):
            left = score[e].clone()
            for index in found:
                assert index == left.argmax()
                left[near[e, index]] = -1.0


def test_chunks_change_nothing(rng, monkeypatch):
    family = metabo.family("hartmann-3")
    tasks = family.sample(4, rng)
    state = BOState.start(family.prior, episodes=4, budget=30)
    for x in sobol(6, 3):
        x = x.expand(4, -1)
        state = state.observe(x, tasks(x[:, None])[:, 0])
    points = torch.rand(4, 333, 3, generator=rng, dtype=torch.float64)
    whole = evaluate(state, EI(), points)
    for limits in ((1000, 2**13), (2**18, 400)):
        monkeypatch.setattr(module, "_LIMITS_CPU", limits)
        cut = evaluate(state, EI(), points)
        torch.testing.assert_close(whole.score, cut.score, rtol=1e-9, atol=1e-14)
        torch.testing.assert_close(whole.belief.std, cut.belief.std, rtol=1e-9, atol=1e-14)
