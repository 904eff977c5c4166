import pytest
import torch

from metabo.loop import rollout
from metabo.metrics import quantiles
from metabo.paper.catalogue import Experiment, Scale
from metabo.paper.kinds.heat import SCALES, SURFACES, TRANSLATIONS, cell_tasks, threshold
from metabo.paper.results import stored
from metabo.paper.runner import run
from metabo.policies import classical, searcher
from metabo.tasks import family


@pytest.mark.parametrize("name", SURFACES)
def test_every_cell_keeps_its_ranges_and_the_optimum_in_the_cube(name):
    surface = SURFACES[name]
    for column in range(10):
        tasks = cell_tasks(surface, 3, column, 200, 0)
        magnitude = tasks.translation.abs()
        assert TRANSLATIONS[column] <= magnitude.min()
        assert magnitude.max() <= TRANSLATIONS[column + 1]
        assert SCALES[3] <= tasks.scale.min()
        assert tasks.scale.max() <= SCALES[4]
        assert ((tasks.argmax >= 0) & (tasks.argmax <= 1)).all()
    near = cell_tasks(surface, 3, 0, 200, 0).translation
    assert 0.3 < (near > 0).double().mean() < 0.7


def test_the_ranges_are_disjoint_and_hold_the_training_range():
    assert len(TRANSLATIONS) == len(SCALES) == 11
    assert TRANSLATIONS[2] == 0.1
    assert {0.9, 1.1} <= set(SCALES)


def test_one_point_in_a_hundred_has_a_regret_below_the_threshold(rng):
    for surface in SURFACES.values():
        x = torch.rand(100_000, surface.dim, generator=rng, dtype=torch.float64)
        share = (surface.maximum - surface.function(x) <= threshold(surface)).double().mean()
        assert share == pytest.approx(0.01, abs=0.001)


def test_a_cell_alone_gives_what_it_gives_among_the_others(tmp_path, unchecked):
    one = Experiment(
        "h", "", "heat", ("ei",), {"smoke": Scale(2, 3)}, ("branin",), search="gradient"
    )
    (unit,) = one.units("smoke")
    assert not list(run([unit], tmp_path))
    result = stored(unit, tmp_path)["result"]
    assert [len(row) for row in result["steps"]] == [10] * 10
    setting, row, column = family("branin"), 2, 7
    policy = classical("ei", setting.domain, searcher("gradient", setting.domain))
    tasks = cell_tasks(SURFACES["branin"], row, column, 2, 0)
    alone = rollout(policy, tasks, setting, seed=0, budget=3).regret
    final = quantiles(alone, [0.5])[0, -1].item()
    assert result["final"][10 * row + column] == pytest.approx(final, rel=5e-3)


def test_other_families_have_no_map(tmp_path):
    one = Experiment("h", "", "heat", ("ei",), {"smoke": Scale(1, 1)}, ("rhino-1",))
    ((_, reason),) = run(one.units("smoke"), tmp_path)
    assert reason.startswith("Generalization is mapped on branin, goldstein-price, hartmann-3")
