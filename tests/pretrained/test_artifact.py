import hashlib
import json
import logging
import os
import tracemalloc
from random import Random

import pytest
import torch
from families import TABLES
from fault_cases.damage import damaged as faults
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import metabo
from metabo.acquisition import Architecture, NeuralAF
from metabo.digest import tensor_digest, text_digest
from metabo.errors import DataError, MetaBOError, OptionError
from metabo.pretrained import artifacts, first_sha256, load, read_card, save
from metabo.pretrained.card import FORMAT
from metabo.space import Space

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


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in TABLES)) for n in artifacts()]
)
def test_every_artifact_that_ships_loads_and_describes_itself(name):
    af = load(name)
    family = metabo.family(af.card["family"])
    assert af.architecture.dim == family.domain.dim
    budget = af.card["training"]["config"]["budget"] or family.budget
    assert af.card["budget"][1] == budget
    assert artifacts()[name].stat().st_size < 1_500_000
    assert (af.space, af.budget) == (family.space, budget)
    stored, built = af.prior.record(), family.prior.record()
    assert stored.keys() == built.keys()
    for key, value in stored.items():
        if isinstance(value, str):
            assert built[key] == value
        else:  # a table's prior is fitted, and machines round differently
            torch.testing.assert_close(torch.tensor(built[key]), torch.tensor(value))


def test_a_card_may_leave_out_space_and_budget_but_they_are_not_made_up(path):
    af = load(path)
    assert af.space == Space.cube(2)
    with pytest.raises(DataError, match=r"card of .* has no GP prior. Give one as `prior`"):
        _ = af.prior
    with pytest.raises(DataError, match=r"card of .* has no budget. Give one as `budget`"):
        _ = af.budget
    assert af.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def metadata_of(path):
    with safe_open(path, framework="pt") as file:
        return file.metadata()


def rewrite(path, weights, *, card=None):
    """The file as somebody would write it who knows the format, digests included."""
    described = (json.loads(metadata_of(path)["metabo"]) if card is None else card) | {
        "weights_sha256": tensor_digest(weights)
    }
    text = json.dumps(described)
    save_file(weights, path, metadata={"metabo": text, "metabo_sha256": text_digest(text)})


def test_no_single_fault_changes_a_weight_unnoticed(path):
    whole, state = path.read_bytes(), load(path).state_dict()
    card = load(path).card
    accepted, messages = [], []
    for name, damaged in faults(whole, 500, Random(0)):
        path.write_bytes(damaged)
        try:
            af = load(path)
        except MetaBOError as error:
            messages.append(str(error))
            continue
        accepted.append(name)
        assert af.card == card, name
        assert all(torch.equal(v, state[k]) for k, v in af.state_dict().items()), name
    assert not any("\n" in message or len(message) > 1000 for message in messages)
    assert len(accepted) < 10  # blanks that fill up the header say nothing


def test_every_byte_of_weights_and_card_counts(path):
    whole = path.read_bytes()
    start = whole.index(b"branin")
    for at in [start, start + 3, *range(len(whole) - 200, len(whole), 7)]:
        damaged = bytearray(whole)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"cannot be read: its (card is|weights are) not"):
            load(path)


def test_a_digest_cannot_go_missing_alone(path):
    weights, metadata = load_file(path), metadata_of(path)
    save_file(weights, path, metadata={"metabo": metadata["metabo"]})
    with pytest.raises(DataError, match="one of its two digests is missing"):
        load(path)


def test_a_file_of_an_earlier_version_loads_and_says_so(path, caplog):
    weights, card = load_file(path), json.loads(metadata_of(path)["metabo"])
    weights = {name: w.clone() for name, w in weights.items()}  # safetensors < 0.8 maps the file
    del card["weights_sha256"]
    save_file(weights, path, metadata={"metabo": json.dumps(card)})
    with caplog.at_level(logging.INFO, "metabo"):
        af = load(path)
    assert torch.equal(af.network[0].weight, weights["network.0.weight"].double())
    assert "has no digests, because an earlier version of metabo wrote it" in caplog.text


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf, 1e38, -2e6])
@pytest.mark.parametrize("name", ["network.0.weight", "network.4.bias", "scale"])
def test_weights_that_no_training_makes_are_refused(path, name, value):
    weights = load_file(path)
    weights[name].view(-1)[0] = value
    rewrite(path, weights)
    with pytest.raises(DataError, match=r"must be finite and at most 1e\+06, but `.*` has one of"):
        load(path)


def test_weights_that_could_not_be_loaded_are_not_saved(tmp_path):
    af = NeuralAF(SHAPE)
    with torch.no_grad():
        af.network[0].weight[0, 0] = torch.nan
    with pytest.raises(DataError, match=r"but `network.0.weight` has one of nan"):
        save(af, {}, tmp_path / "a.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", [torch.float16, torch.int64, torch.bfloat16])
def test_weights_of_another_type_are_refused(path, dtype):
    weights = load_file(path)
    weights["network.0.bias"] = weights["network.0.bias"].to(dtype)
    rewrite(path, weights)
    with pytest.raises(DataError, match=r"must be float32 or float64, but `network.0.bias` is"):
        load(path)


@pytest.mark.parametrize("hidden", [[20000, 20000], [2**31] * 1000])
def test_a_network_that_is_not_in_the_file_is_never_built(path, hidden):
    card = json.loads(metadata_of(path)["metabo"])
    card["architecture"]["hidden"] = hidden
    rewrite(path, load_file(path), card=card)
    tracemalloc.start()
    with pytest.raises(DataError, match="card and weights do not fit"):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_a_file_that_was_written_again_is_known_by_its_first_digest(path):
    first, card = load(path), read_card(path)
    assert first_sha256(path) == first.sha256
    weights = load_file(path)
    af = NeuralAF(SHAPE)
    af.load_state_dict(weights)
    save(af, card | {"replaces": [first.sha256], "note": "again"}, path)
    again = load(path)
    assert again.sha256 != first.sha256
    assert again.has_been(first.sha256)
    assert again.has_been(again.sha256)
    assert not again.has_been("0" * 64)
    assert first_sha256(path) == first.sha256
    save(NeuralAF(SHAPE), again.card, path)  # with other weights it replaces nothing
    assert not load(path).has_been(first.sha256)


@pytest.mark.parametrize("name", list(artifacts()))
def test_every_artifact_that_ships_has_digests_and_names_what_it_replaces(name, caplog):
    with caplog.at_level(logging.INFO, "metabo"):
        af = load(name)
    assert not caplog.text
    assert af.has_been(first_sha256(artifacts()[name]))
    has_earlier_file = bool(af.card.get("replaces"))
    assert (first_sha256(artifacts()[name]) != af.sha256) == has_earlier_file


def test_what_is_no_plain_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.safetensors")
    (tmp_path / "dangling.safetensors").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop.safetensors").symlink_to(tmp_path / "loop.safetensors")
    (tmp_path / "folder.safetensors").mkdir()
    (tmp_path / "empty.safetensors").touch()
    for name, message in {
        "pipe.safetensors": "not a plain file but a device, pipe or socket",
        "dangling.safetensors": "a link to a file that does not exist",
        "loop.safetensors": "cannot be read: Too many levels",
        "folder.safetensors": "is a folder",
        "empty.safetensors": "cannot be read",
    }.items():
        with pytest.raises(DataError, match=message):
            load(tmp_path / name)
        with pytest.raises(DataError, match=message):
            metabo.Optimizer({"x": metabo.Float(0, 1)}, budget=3, af=str(tmp_path / name))


@pytest.mark.parametrize(
    "name", ["x" * 5000, "x" * 5000 + ".safetensors", "a\0b", "a\0b.safetensors", "/dev/zero"]
)
def test_no_name_ends_in_a_traceback(name):
    for use in (load, lambda af: metabo.Optimizer({"x": metabo.Float(0, 1)}, budget=3, af=af)):
        with pytest.raises(DataError, match=r"The artifact .* cannot be read") as refused:
            use(name)
        assert len(str(refused.value)) < 500
