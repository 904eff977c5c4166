import pytest
import torch

import metabo
from metabo.errors import OptionError
from metabo.paper.catalogue import Experiment, Scale
from metabo.paper.kinds.control import first_stabilized
from metabo.paper.results import stored
from metabo.paper.runner import run
from metabo.seeding import generator


def test_the_first_trial_that_keeps_a_pendulum_up_is_where_the_regulator_stands(unchecked):
    tasks = metabo.family("furuta").sample(3, generator(0, "test"))
    regulator = tasks.box.encode(tasks.regulator)
    bad = torch.full_like(regulator, 0.99)
    queries = torch.stack([bad, bad, regulator, bad, regulator], 1)
    assert first_stabilized(tasks, queries).tolist() == [3, 3, 3]
    assert first_stabilized(tasks, queries[:, :2]).tolist() == [0, 0, 0]


def test_what_is_stored_agrees_with_the_regret_of_evaluate(tmp_path, unchecked):
    one = Experiment(
        "c", "", "control", ("random",), {"smoke": Scale(2, 2)}, ("furuta-reference",)
    )
    (unit,) = one.units("smoke")
    assert not list(run([unit], tmp_path))
    result = stored(unit, tmp_path)["result"]
    evaluation = metabo.evaluate("furuta-reference", methods=["random"], tasks=2, budget=2)
    expected = evaluation.methods["random"].regret[:, -1].tolist()
    assert [row[-1] for row in result["regret"]] == pytest.approx(expected, rel=5e-3)
    assert len(result["first_stabilized"]) == 2


def test_a_family_without_a_pendulum_cannot_be_kept_up(tmp_path):
    one = Experiment("c", "", "control", ("ei",), {"smoke": Scale(1, 1)}, ("branin",))
    ((_, reason),) = run(one.units("smoke"), tmp_path)
    assert reason == "The family `branin` has no pendulum to keep up. Use `furuta`."


def test_an_artifact_of_another_family_that_does_not_exist_is_named(tmp_path):
    one = Experiment(
        "c",
        "",
        "control",
        ("metabo",),
        {"smoke": Scale(1, 1)},
        ("furuta",),
        artifact="no-such-artifact",
    )
    ((_, reason),) = run(one.units("smoke"), tmp_path)
    assert "There is no artifact `no-such-artifact`" in reason
    with pytest.raises(OptionError, match=r"Unknown experiment `c`"):
        metabo.paper.catalogue.experiment("c")
