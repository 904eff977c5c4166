"""Artifacts hold a learned prior beside the network, or a network that adds nothing to it."""

from dataclasses import replace

import pytest
import torch
from learned import cells, prior
from safetensors import safe_open

from metabo.acquisition import Architecture, NeuralAF
from metabo.errors import DataError
from metabo.pretrained import load, save
from metabo.pretrained.learned_prior import FIELD

CARD = {"prior": prior().record(), "budget": [5, 5], "family": "toy"}


def saved(path, part):
    save(NeuralAF(Architecture(2, hidden=(4,))), CARD, path, part)
    return path


def test_a_learned_prior_survives_being_stored_to_the_bit(tmp_path):
    part = prior().learned
    read = load(saved(tmp_path / "af.safetensors", part)).prior.learned
    for name in ("z", "weights", "lengthscale"):
        assert torch.equal(getattr(read, name), getattr(part, name))
    for name in vars(part.cells):
        assert torch.equal(getattr(read.cells, name), getattr(part.cells, name))
    assert torch.equal(read.groups.centre, part.groups.centre)
    assert torch.equal(read.groups.spread, part.groups.spread)
    assert read.kernel == part.kernel


def test_without_one_the_card_and_the_tensors_are_those_of_before(tmp_path):
    af = load(saved(tmp_path / "af.safetensors", None))
    assert af.prior.learned is None
    assert FIELD not in af.card
    with safe_open(af.path, framework="pt") as file:
        assert not [name for name in file.keys() if name.startswith("prior.")]  # noqa: SIM118


@pytest.mark.parametrize(
    "change",
    [
        {"share": torch.tensor([0.0, 1, 1, 1, 1]).double()},
        {"group": torch.tensor([1, 0, 1, 2, 2])},
        {"group": torch.tensor([0, 0, 1, 2, 3])},
        {"scale": torch.tensor([torch.nan, 1, 1, 1, 1]).double()},
        {"offset_variance": torch.tensor([-1.0, 1, 1, 1, 1]).double()},
        {"log_plain": torch.tensor(0.5).double()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_numbers_that_cannot_be_are_refused_in_one_sentence(tmp_path, change):
    part = replace(prior().learned, cells=replace(cells(), **change))
    path = saved(tmp_path / "af.safetensors", part)
    with pytest.raises(DataError, match=r"The learned prior of .* must have finite numbers"):
        load(path)


def test_a_prior_without_a_guard_survives_too(tmp_path):
    part = prior().learned.unguarded()
    read = load(saved(tmp_path / "af.safetensors", part)).prior.learned
    assert float(read.cells.log_plain) == -torch.inf
