import pytest
import torch

import metabo
from metabo.domain import Finite
from metabo.errors import DomainError
from metabo.policies import Enumerate, Maximize, RandomSearch, Sample, StartAt
from metabo.seeding import Noise
from metabo.state import BOState

POINTS = torch.tensor([[0.1], [0.4], [0.6], [0.9]], dtype=torch.float64)
LOGITS = torch.tensor([0.0, 1.0, 2.0, -1.0], dtype=torch.float64)


def fixed(belief):
    """An AF that only knows the four points."""
    return LOGITS.expand(belief.mean.shape[0], -1)


def start(episodes):
    return BOState.start(metabo.family("rhino-1").prior, episodes=episodes, budget=5)


def noise(episodes, seed=0, step=0):
    return Noise.at(seed, episodes=torch.arange(episodes), step=step)


def test_sampling_follows_the_softmax_of_the_scores():
    proposal = Sample(fixed, Enumerate(Finite(POINTS))).propose(start(20_000), noise(20_000))
    frequency = proposal.index.bincount(minlength=4) / 20_000
    torch.testing.assert_close(frequency.double(), LOGITS.softmax(-1), rtol=0, atol=0.015)
    expected = LOGITS.log_softmax(-1)[proposal.index]
    torch.testing.assert_close(proposal.log_probability, expected)
    assert torch.equal(proposal.x, POINTS[proposal.index])


def test_maximizing_takes_the_best_candidate():
    proposal = Maximize(fixed, Enumerate(Finite(POINTS))).propose(start(3), noise(3))
    assert proposal.index.tolist() == [2, 2, 2]
    assert torch.equal(proposal.x, POINTS[[2, 2, 2]])


def test_asking_twice_gives_one_answer():
    policy = Sample(fixed, Enumerate(Finite(POINTS)))
    first, second = (policy.propose(start(50), noise(50)).index for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, policy.propose(start(50), noise(50, step=1)).index)


def test_a_start_is_made_once():
    domain = metabo.family("rhino-1").domain
    policy = StartAt(0.5, RandomSearch(domain), domain)
    state = start(3)
    first = policy.propose(state, noise(3)).x
    assert torch.equal(first, torch.full((3, 1), 0.5).double())
    later = policy.propose(state.observe(first, torch.zeros(3).double()), noise(3, step=1)).x
    assert (later != 0.5).all()


def test_a_start_in_a_finite_domain_is_the_nearest_point():
    domain = Finite(POINTS)
    first = StartAt(0.55, RandomSearch(domain), domain).propose(start(2), noise(2)).x
    assert torch.equal(first, POINTS[[2, 2]])


def test_random_search_in_a_finite_domain_does_not_repeat_itself():
    policy, state = RandomSearch(Finite(POINTS)), start(40)
    for step in range(4):
        x = policy.propose(state, noise(40, step=step)).x
        state = state.observe(x, torch.zeros(40).double())
    assert (state.history.x.sort(1).values == POINTS.sort(0).values).all()
    # All are seen: it goes on, with repeats.
    assert policy.propose(state, noise(40, step=4)).x.shape == (40, 1)


def test_a_start_outside_the_cube_is_refused():
    domain = metabo.family("rhino-1").domain
    with pytest.raises(DomainError, match=r"must lie in \[0, 1\], but got 2"):
        StartAt(2.0, RandomSearch(domain), domain)


def test_random_search_fills_the_cube():
    domain = metabo.family("hartmann-3").domain
    state = BOState.start(metabo.family("hartmann-3").prior, episodes=5000, budget=5)
    x = RandomSearch(domain).propose(state, noise(5000)).x
    assert x.mean(0).sub(0.5).abs().max() < 0.02
    assert x.std(0).sub(12**-0.5).abs().max() < 0.01
