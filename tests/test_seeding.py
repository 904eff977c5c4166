import pytest
import scipy.stats
import torch

from metabo import seeding
from metabo.seeding import Noise, generator


def at(seed=0, n=4, step=0):
    return Noise.at(seed, episodes=torch.arange(n), step=step)


def test_an_episode_alone_draws_what_it_draws_among_others():
    together = at(n=50, step=7)
    alone = Noise.at(0, episodes=torch.tensor([31]), step=7)
    assert torch.equal(together.uniform(5)[31:32], alone.uniform(5))
    assert torch.equal(together.stream("a").normal(5)[31:32], alone.stream("a").normal(5))


def test_more_draws_begin_with_the_same():
    assert torch.equal(at().uniform(9)[:, :4], at().uniform(4))


def test_seed_episode_step_stream_and_position_all_matter():
    draws = torch.cat(
        [
            at(seed, n=20, step=step).stream(name).uniform(20).flatten()
            for seed in (0, 1)
            for step in (0, 1, 2)
            for name in ("a", "b")
        ]
    )
    assert len(draws.unique()) == len(draws) == 2 * 3 * 2 * 400


def test_a_step_on_the_device_is_a_step():
    assert torch.equal(at(step=3).uniform(2), at(step=torch.tensor(3)).uniform(2))


def test_uniform_draws_are_uniform_and_independent():
    draws = at(n=2000).uniform(10)
    assert 0 < draws.min() < draws.max() < 1
    assert scipy.stats.kstest(draws.flatten().numpy(), "uniform").pvalue > 1e-3
    for other in (draws.roll(1, 0), draws.roll(1, 1), at(n=2000, step=1).uniform(10)):
        pair = torch.stack([draws.flatten(), other.flatten()])
        assert abs(torch.corrcoef(pair)[0, 1].item()) < 0.03  # 4 standard errors of 20,000 draws


def test_the_extremes_stay_inside_the_open_interval(monkeypatch):
    for bits in (-1, 0):
        monkeypatch.setattr(seeding, "_mix", lambda z, bits=bits: torch.full_like(z, bits))
        draw = Noise(torch.zeros(1, dtype=torch.int64)).uniform(1).item()
        assert 0 < draw < 1


def test_normal_draws_are_normal():
    assert scipy.stats.kstest(at(n=2000).normal(10).flatten().numpy(), "norm").pvalue > 1e-3


def test_generators_of_different_streams_differ_and_repeat():
    def draw(seed, name):
        return torch.rand(3, generator=generator(seed, name)).tolist()

    assert draw(0, "test tasks") == draw(0, "test tasks")
    assert draw(0, "test tasks") != draw(0, "training tasks")
    assert draw(0, "test tasks") != draw(1, "test tasks")


@pytest.mark.gpu
def test_devices_agree(cuda):
    there = Noise.at(3, episodes=torch.arange(9, device=cuda), step=2).uniform(4)
    assert torch.equal(there.cpu(), Noise.at(3, episodes=torch.arange(9), step=2).uniform(4))
