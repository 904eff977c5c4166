import pytest
import torch

from metabo.explain import explain
from metabo.paper.catalogue import EXPERIMENTS
from metabo.paper.kinds.strategy import KIND, episodes
from metabo.paper.results import read, stored
from metabo.paper.runner import run


@pytest.mark.slow
def test_stored_episodes_are_those_of_explain_and_can_be_drawn(tmp_path, unchecked):
    one = EXPERIMENTS["strategy-rhino-2"]
    (unit,) = one.units("smoke")
    assert not list(run([unit], tmp_path))
    record = stored(unit, tmp_path)
    made = explain("rhino-2", budget=10, search="grid", steps=[1, 2, 3, 4])
    for kept, whole in zip(episodes(record["result"]), made.episodes, strict=True):
        assert kept.title == whole.title
        for a, b in zip(kept.steps, whole.steps, strict=True):
            torch.testing.assert_close(a.query, b.query, rtol=1e-3, atol=0)
            torch.testing.assert_close(a.views[0].x, b.views[0].x[::4])
            torch.testing.assert_close(a.views[0].score, b.views[0].score[::4], rtol=1e-3, atol=0)
    picture = tmp_path / "strategy.svg"
    KIND.figure(read(one, "smoke", tmp_path)).savefig(picture)
    assert picture.read_text().startswith("<?xml")
