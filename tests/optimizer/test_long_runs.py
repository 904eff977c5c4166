"""Runs of thousands of evaluations: what they cost, and that nothing told is forgotten."""

import logging
import subprocess
import sys

import pytest
import torch

import metabo
from metabo import Optimizer, Space
from metabo.gp import reduction
from metabo.optimizer import surrogate
from metabo.state import BOState

SPACE = Space.cube(2)


@pytest.fixture
def few(monkeypatch):
    """The limits of long runs, at which tests are quick."""
    monkeypatch.setattr(reduction, "MOST_SEEN", 20)
    monkeypatch.setattr(reduction, "MOST_FITTED", 10)
    monkeypatch.setattr(surrogate, "MOST_GROWN", 10)


def tell(optimizer, t, start=0):
    points = torch.rand(t, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for point in points[start:]:
        params = optimizer.space.decode(point)
        optimizer.tell(params, sum((5 * value - 2) ** 2 for value in params.values()))


def run(af):
    return Optimizer(None if af == "branin" else SPACE, af=af, budget=100)


@pytest.mark.parametrize("af", ["logei", "branin"])
def test_the_answer_is_a_function_of_the_history_at_any_length(af, few):
    grown = run(af)
    for t in (5, 12, 25, 31):  # around the limits, and beyond them
        tell(grown, t, start=grown.n_told)
        whole = run(af)
        tell(whole, t)
        one, other = whole.state, grown.state
        assert torch.equal(one.gp.inverse, other.gp.inverse)
        assert torch.equal(one.gp.y, other.gp.y)
        assert torch.equal(one.history.y, other.history.y)
    assert whole.ask_batch(2) == grown.ask_batch(2)


@pytest.mark.parametrize("af", [None, "branin"])
def test_the_gp_sees_a_part_and_the_run_keeps_it_all(af, few):
    optimizer = run(af)
    tell(optimizer, 35)
    state = optimizer.state
    assert state.gp.x.shape[1] == 20
    assert (state.n_observed, int(state.step)) == (35, 35)
    assert state.best == state.history.y.max()
    assert state.gp.y.max() == state.best
    assert len(optimizer.history) == 35


def test_a_fixed_prior_is_grown_as_in_a_rollout_up_to_its_limit(few):
    optimizer = run("branin")
    tell(optimizer, 10)
    grown = BOState.start(optimizer.prior, episodes=1, budget=100)
    x, y = optimizer.state.gp.x[0], optimizer.state.gp.y[0]
    for t in range(10):
        grown = grown.observe(x[t : t + 1], y[t : t + 1])
    assert torch.equal(optimizer.state.gp.inverse, grown.gp.inverse)


def test_it_is_said_once_in_the_log_and_always_in_the_words_about_the_prior(few, caplog):
    optimizer = Optimizer(SPACE, budget=100)
    with caplog.at_level(logging.INFO, logger="metabo"):
        for t in (20, 21, 22, 23):
            tell(optimizer, t, start=optimizer.n_told)
            _ = optimizer.state
            assert ("the GP sees 20 of" in optimizer.prior_source) == (t > 20)
    said = [record.message for record in caplog.records]
    assert said == [
        "From now on the GP sees 20 of 21 observations (the nearest to the best one and a spread "
        "of the rest)."
    ]
    assert "the GP sees 20 of 23 observations" in repr(optimizer)
    random = Optimizer(SPACE, budget=100, af="random")
    tell(random, 25)
    assert "sees" not in random.prior_source


def test_points_that_the_gp_does_not_see_are_not_asked_for_again(few):
    space = Space({"a": metabo.Int(0, 4), "b": metabo.Choice(("u", "v", "w", "x", "y"))})
    optimizer = Optimizer(space, budget=30, af="logei")
    points = [{"a": a, "b": b} for b in "uvwxy" for a in range(5)]
    for params in points[:22]:
        optimizer.tell(params, abs(params["a"] - 1.7) + "wuvxy".index(params["b"]))
    asked = []
    for _ in range(3):
        asked.append(optimizer.ask())
        optimizer.tell(asked[-1], 9.0)
    assert sorted(asked, key=str) == sorted(points[22:], key=str)
    with pytest.raises(metabo.errors.MetaBOError, match="All 25 points"):
        optimizer.ask()


def test_a_long_history_of_a_discrete_space_is_not_decoded_for_every_proposal(monkeypatch):
    space = Space({"a": metabo.Int(0, 10**6), "b": metabo.Choice(("u", "v"))})
    optimizer = Optimizer(space, budget=10_000, af="random")
    for a in range(600):
        optimizer.tell({"a": 1000 * a, "b": "u"}, float(a))
    decode, calls = Space.decode, []

    def counted(self, x):
        calls.append(1)
        return decode(self, x)

    monkeypatch.setattr(Space, "decode", counted)
    optimizer.ask()
    assert len(calls) < 10


COST = """
import sys, torch
from metabo import Optimizer, Space

for case in sys.argv[1:]:
    dim, t, af = case.split(",")
    space = None if af == "hartmann-3" else Space.cube(int(dim))
    optimizer = Optimizer(space, budget=10_000, af=af or None)
    rng = torch.Generator().manual_seed(0)
    for x in torch.rand(int(t), int(dim), generator=rng, dtype=torch.float64):
        optimizer.tell(optimizer.space.decode(x), float((x - 0.3).square().sum()))
    optimizer.ask()
    status = open("/proc/self/status").read()  # not ru_maxrss, which a child inherits from pytest
    print(case, int(status.split("VmHWM:")[1].split()[0]) / 2**20)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
def test_an_ask_fits_in_1_gb():
    # The highest use so far is printed after each case: one interpreter serves all of them.
    cases = ("3,3000,", "3,3000,logei", "3,3000,hartmann-3", "3,9999,", "100,120,")
    done = subprocess.run(
        [sys.executable, "-c", COST, *cases], capture_output=True, text=True, check=True
    )
    used = dict(line.split() for line in done.stdout.splitlines())
    assert tuple(used) == cases
    assert all(float(gigabytes) < 1 for gigabytes in used.values()), used
