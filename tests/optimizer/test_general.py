"""What a user gets who names no acquisition function."""

import pytest
import torch

import metabo
from metabo import pretrained
from metabo.acquisition import NeuralAF
from metabo.domain import sobol
from metabo.errors import OptionError
from metabo.optimizer.af import GENERAL, default_af
from metabo.seeding import generator
from metabo.training import preset

SPACE = {"x": metabo.Float(-5, 10), "y": metabo.Float(0, 15)}


@pytest.fixture
def general(tmp_path, monkeypatch):
    """A folder of artifacts with a network for any dimension, not trained."""
    shape = preset("general", "gp-matern52", hidden=(8,)).architecture(3)
    prior = metabo.family("gp-matern52").prior.record()
    card = {"prior": prior, "budget": [20, 60], "family": "gp-matern52"}
    af = NeuralAF(shape, generator(0, "weights"))
    pretrained.save(af, card, tmp_path / f"{GENERAL}.safetensors")
    monkeypatch.setattr("metabo.pretrained.artifact.FOLDER", tmp_path)


def bowl(params):
    return (params["x"] - 1) ** 2 + (params["y"] - 4) ** 2


def run(value, n=10, **options):
    optimizer = metabo.Optimizer(SPACE, budget=20, **options)
    for _ in range(n):
        params = optimizer.ask()
        optimizer.tell(params, value(params))
    return optimizer


def test_it_is_the_general_artifact_where_there_is_one(general):
    optimizer = metabo.Optimizer(SPACE, budget=20)
    assert default_af(20) == GENERAL
    assert default_af(None) == "logei"
    assert optimizer.settings["af"]["name"] == GENERAL
    assert optimizer.settings["prior"] == {"kind": "fitted"}


def test_it_is_log_ei_where_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr("metabo.pretrained.artifact.FOLDER", tmp_path)
    assert metabo.Optimizer(SPACE, budget=20).settings["af"] == {"kind": "method", "name": "logei"}


def test_it_starts_at_the_midpoint_like_the_classical_methods(general):
    for af in (None, "ei"):
        params = metabo.Optimizer(SPACE, budget=20, af=af).ask()
        assert params == pytest.approx({"x": 2.5, "y": 7.5})


def test_its_own_prior_is_not_taken_even_in_as_many_dimensions(general):
    space = SPACE | {"z": metabo.Float(0, 1)}
    assert metabo.Optimizer(space, budget=20).settings["prior"] == {"kind": "fitted"}


def test_it_brings_neither_a_space_nor_a_budget(general):
    with pytest.raises(OptionError, match=r"needs a `space`"):
        metabo.Optimizer(budget=20)
    with pytest.raises(OptionError, match=r"needs a `budget`"):
        metabo.Optimizer(SPACE)


@pytest.mark.slow
def test_a_function_in_another_unit_is_asked_for_the_same_points(general):
    plain, scaled = run(bowl), run(lambda params: 1000 * bowl(params) + 5)
    x, again = (torch.tensor([one.x for one in o.history]) for o in (plain, scaled))
    torch.testing.assert_close(x, again, rtol=0, atol=1e-4)
    assert plain.best.value < min(
        bowl({"x": -5 + 15 * a, "y": 15 * b}) for a, b in sobol(10, 2).tolist()
    )
