import pytest
import torch

from metabo.errors import MetaBOError
from metabo.optimizer import Configurations
from metabo.space import Choice, Float, Int, Space
from metabo.state import History

SPACE = Space(
    {"rate": Float(1e-5, 0.1, log=True), "n": Int(1, 50, log=True), "kind": Choice(("a", "b"))}
)
ROWS = [
    {"rate": 10**-e, "n": n, "kind": kind} for e in (1, 2, 3, 5) for n in (1, 7) for kind in "ab"
]


def history(points):
    return History(points[None], torch.zeros(1, len(points), dtype=torch.float64))


def test_a_configuration_comes_back_to_the_last_digit():
    few = Configurations.of(ROWS, SPACE)
    assert [few.at(SPACE.encode(row)) for row in ROWS] == ROWS
    assert [SPACE.decode(SPACE.encode(row)) for row in ROWS] != ROWS  # where decoding fails


def test_those_left_are_counted_down_to_none():
    few = Configurations.of(ROWS, SPACE)
    points, elsewhere = few.domain.points, torch.full((1, 4), 0.3, dtype=torch.float64)
    for n in range(len(ROWS)):
        assert few.n_left(history(torch.cat([elsewhere, points[:n]]))) == len(ROWS) - n
    few.require_left(history(points[1:]))
    with pytest.raises(MetaBOError, match=r"All 16 configurations of the table are evaluated"):
        few.require_left(history(points))
