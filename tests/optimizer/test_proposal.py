"""Proposals: the one way to get a point, with what is known about it."""

import pickle

import pytest
import torch

from metabo import Float, Optimizer, Space
from metabo.gp import Prior

SPACE = Space({"x": Float(-1.0, 2.0), "y": Float(0.0, 5.0)})
PRIOR = Prior.of([0.3, 0.3], signal_variance=1.0, noise_variance=1e-6)
VALUES = (3.0, 1.0, 2.5, 1.5)


def told(values=VALUES, **options):
    optimizer = Optimizer(SPACE, **({"budget": 12, "af": "ei", "prior": PRIOR} | options))
    points = torch.rand(len(values), 2, generator=torch.Generator().manual_seed(0))
    for point, value in zip(points.double(), values, strict=True):
        optimizer.tell(SPACE.decode(point), value)
    return optimizer


def test_asking_is_proposing_without_the_reasons():
    optimizer = told()
    proposals = optimizer.propose(3)
    assert optimizer.ask_batch(3) == [one.params for one in proposals]
    assert optimizer.ask() == proposals[0].params
    assert optimizer.propose() == proposals[:1]
    assert optimizer.propose(pending=[one.params for one in proposals[:2]]) == proposals[2:]


def test_the_point_is_the_one_that_enters_the_history():
    optimizer = told()
    (proposal,) = optimizer.propose()
    optimizer.tell(proposal.params, 1.0)
    assert optimizer.history[-1].x == proposal.point


def test_reserved_proposals_are_under_way():
    optimizer = told()
    reserved = optimizer.propose(2, reserve=True)
    assert [one.params for one in optimizer.pending] == [one.params for one in reserved]
    assert optimizer.propose() != reserved[:1]


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_with_values_as_told_the_prediction_is_that_of_the_gp(direction):
    optimizer = told(direction=direction)
    (proposal,) = optimizer.propose()
    x = torch.tensor([[proposal.point]], dtype=torch.float64)
    mean, std = optimizer.state.gp.predict(x)
    sign = 1 if direction == "maximize" else -1
    assert proposal.why.mean == pytest.approx(sign * float(mean))
    assert proposal.why.std == pytest.approx(float(std))
    assert proposal.why.best == (3.0 if direction == "maximize" else 1.0)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_fitted_model_speaks_in_the_users_units(direction):
    plain = told(prior="fitted", direction=direction).propose()[0]
    scaled = told([1e6 + 1e4 * v for v in VALUES], prior="fitted", direction=direction).propose()[
        0
    ]
    assert scaled.why.mean == pytest.approx(1e6 + 1e4 * plain.why.mean, rel=1e-6)
    assert scaled.why.std == pytest.approx(1e4 * plain.why.std, rel=1e-3)


def test_a_later_proposal_of_a_batch_knows_what_the_earlier_ones_are_expected_to_give():
    optimizer = told()
    first, second = optimizer.propose(2)
    optimizer.tell(first.params, first.why.mean)
    x = torch.tensor([[second.point]], dtype=torch.float64)
    mean, std = optimizer.state.gp.predict(x)
    assert second.why.mean == pytest.approx(-float(mean))
    assert second.why.std == pytest.approx(float(std))


def test_the_sentence_says_what_is_known():
    why = told().propose()[0].why
    expected = f"Expected {why.mean:.3g} ± {why.std:.2g}; best so far 1; chosen by `ei`."
    assert str(why) == why.sentence == expected


@pytest.mark.parametrize(
    ("options", "values", "sentence"),
    [
        ({"prior": "fitted"}, (), "The model cannot say yet; no value so far; chosen by `ei`."),
        (
            {"prior": "fitted"},
            (2.0, 2.0),
            "The model cannot say yet; best so far 2; chosen by `ei`.",
        ),
        (
            {"prior": None, "af": "random"},
            (2.0, 3.0),
            "The model cannot say yet; best so far 2; chosen by `random`.",
        ),
        ({}, (), "Expected 0 ± 1; no value so far; chosen by `ei`."),
    ],
)
def test_what_is_not_known_is_not_claimed(options, values, sentence):
    assert str(told(values, **options).propose()[0].why) == sentence


def test_a_proposal_can_be_sent_to_another_process():
    (proposal,) = told().propose()
    again = pickle.loads(pickle.dumps(proposal))
    assert again == proposal
    assert str(again.why) == str(proposal.why)
