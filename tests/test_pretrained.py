import hashlib
import json

import pytest
import torch
from safetensors.torch import save_file

import metabo
from metabo.acquisition import Architecture, NeuralAF
from metabo.errors import DataError, OptionError
from metabo.pretrained import FORMAT, artifacts, load, save
from metabo.space import Space
from metabo.tasks import space_of

SHAPE = Architecture(2, ("mean", "std", "x"), (8, 8), "tanh", normalize=True)


@pytest.fixture
def path(tmp_path):
    save(NeuralAF(SHAPE), {"family": "branin"}, tmp_path / "a.safetensors")
    return tmp_path / "a.safetensors"


def test_what_is_saved_is_loaded(tmp_path):
    af = NeuralAF(SHAPE)
    save(af, {"family": "branin"}, tmp_path / "a.safetensors")
    again = load(tmp_path / "a.safetensors")
    assert again.architecture == SHAPE
    assert again.card["family"] == "branin"
    assert again.card["format"] == FORMAT
    assert all(torch.equal(v.double(), again.state_dict()[k]) for k, v in af.state_dict().items())
    assert not any(p.requires_grad for p in again.parameters())


def test_a_truncated_file_is_named(path):
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match=r"artifact .*a.safetensors` cannot be read"):
        load(path)


def test_a_foreign_file_is_named(path):
    save_file({"weight": torch.zeros(2)}, path)
    with pytest.raises(DataError, match="has no metabo card"):
        load(path)


def test_a_newer_format_is_named(path):
    card = {"format": FORMAT + 1, "architecture": {}}
    save_file({"weight": torch.zeros(2)}, path, metadata={"metabo": json.dumps(card)})
    with pytest.raises(DataError, match=f"format {FORMAT + 1}, but this version of metabo reads"):
        load(path)


def test_weights_that_do_not_fit_their_card_are_named(path):
    card = {"format": FORMAT, "architecture": {"dim": 2, "features": ["mean"], "hidden": [3]}}
    save_file({"weight": torch.zeros(2)}, path, metadata={"metabo": json.dumps(card)})
    with pytest.raises(DataError, match="card and weights do not fit"):
        load(path)


def test_unknown_names_are_named():
    with pytest.raises(OptionError, match="Unknown artifact `nothing`"):
        load("nothing")
    with pytest.raises(DataError, match=r"There is no file `nothing.safetensors`"):
        load("nothing.safetensors")


@pytest.mark.parametrize("name", list(artifacts()))
def test_every_artifact_that_ships_loads_and_describes_itself(name):
    af = load(name)
    family = metabo.family(af.card["family"])
    assert af.architecture.dim == family.domain.dim
    assert af.card["prior"]["lengthscale"] == family.prior.lengthscale.tolist()
    budget = af.card["training"]["config"]["budget"] or family.budget
    assert af.card["budget"][1] == budget
    assert artifacts()[name].stat().st_size < 1_000_000
    assert (af.space, af.budget) == (space_of(family), budget)
    assert af.prior.record() == family.prior.record()


def test_a_card_may_leave_out_space_and_budget_but_they_are_not_made_up(path):
    af = load(path)
    assert af.space == Space.cube(2)
    with pytest.raises(DataError, match=r"card of .* has no GP prior. Give one as `prior`"):
        _ = af.prior
    with pytest.raises(DataError, match=r"card of .* has no budget. Give one as `budget`"):
        _ = af.budget
    assert af.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
