import json

import pytest
import torch
from safetensors.torch import save_file

from metabo.acquisition import Architecture, NeuralAF
from metabo.errors import DataError
from metabo.gp import Prior
from metabo.pretrained import load
from metabo.pretrained.card import FORMAT, MAX_TEXT, parse_card

SHAPE = {"dim": 2, "features": ["mean", "x"], "hidden": [4]}
PRIOR = Prior.of([0.2, 0.3], signal_variance=1.0, noise_variance=0.0).record()
SPACE = {"a": {"type": "float", "low": 0, "high": 1}, "b": {"type": "int", "low": 1, "high": 9}}
DEEP = "[" * 100_000 + "]" * 100_000


def write(path, text):
    """A file of an earlier version, which had no digests, with any text for its card."""
    weights = NeuralAF(Architecture(2, ("mean", "x"), (4,))).state_dict()
    save_file(weights, path, metadata={"metabo": text})
    return path


def card(**changes):
    return {"format": FORMAT, "architecture": SHAPE, **changes}


def shape(**changes):
    return {"architecture": SHAPE | changes}


def test_a_card_may_say_all_or_little(tmp_path):
    path = tmp_path / "a.safetensors"
    load(write(path, json.dumps(card())))
    rows = [[0.5, 3], [1, 9]]
    full = card(space=SPACE, prior=PRIOR, budget=[3, 5], direction="minimize", configurations=rows)
    af = load(write(path, json.dumps(full)))
    assert af.budget == 5
    assert af.configurations == ({"a": 0.5, "b": 3}, {"a": 1.0, "b": 9})
    assert af.prior.record() == PRIOR


@pytest.mark.parametrize(
    "architecture",
    [
        Architecture(2),
        Architecture(3, ("mean", "x", "std"), (4, 5, 6), "tanh"),
        Architecture(7, ("mean",), (1,)),
    ],
)
def test_shapes_are_those_of_the_network(architecture):
    state = NeuralAF(architecture).state_dict()
    assert architecture.shapes() == {name: tuple(v.shape) for name, v in state.items()}


@pytest.mark.parametrize(
    "changes",
    [
        *[shape(dim=v) for v in (10**400, 10**9, 0, -1, 1.5, "2", None, True, [2])],
        *[shape(hidden=v) for v in ([], [0], [-3], [1.5], ["4"], [True], 4, None, "44", [[4]])],
        *[shape(hidden=v) for v in ([10**400], [4] * 1001, {"4": 4})],
        *[shape(features=v) for v in ([], "mean", [1], ["none"], ["mean", "mean"], None)],
        *[shape(activation=v) for v in (1, None, "none", ["relu"])],
        *[shape(normalize=v) for v in (1, "true", None)],
        *[shape(init=v) for v in ("other", None, [1])],
        *[shape(feature_scale=v) for v in (0, -1, 10**400, "1", None, float("nan"), True)],
        *[shape(residual=v) for v in ("x", "std", 1, ["mean"])],
        *[shape(residual_weight=v) for v in (0, float("inf"), 10**400, [])],
        *[{"architecture": v} for v in (None, [], "relu", {}, {"dim": 2}, SHAPE | {"more": 1})],
        *[{"configurations": v, "space": SPACE} for v in ([], {}, 3, [[]], [[1]], [[9, 9]], [3])],
        *[
            {"configurations": v, "space": SPACE}
            for v in ([["a", 1]], [[0.5, 1.5]], [[10**400, 1]])
        ],
        {"configurations": [[0.5, 1]] * 5000, "space": SPACE},
        *[{"space": v} for v in ([], {}, 3, "x", {"a": 1}, {"a": {"type": "float"}})],
        {"space": {"a": {"type": "float", "low": 0, "high": 10**400}}},
        {"space": {"a": {"type": "float", "low": 0, "high": 1}}},  # one coordinate, not two
        {"space": {"a": {"type": "choice", "values": [[1], [2]]}}},
        *[{"prior": v} for v in ([], 3, "rbf", {}, {"kernel": "rbf"})],
        *[
            {"prior": PRIOR | {key: value}}
            for key in ("lengthscale", "signal_variance", "noise_variance", "jitter")
            for value in (None, "a", [], [[[1.0]]], [10**400], [[10**400]], [-1.0], [[-1.0]])
        ],
        *[
            {"prior": PRIOR | {"lengthscale": v}}
            for v in ([[0.0, 1.0]], [[1.0], [1.0, 2.0]], [[]])
        ],
        *[{"prior": PRIOR | {"jitter": v}} for v in (-1.0, float("nan"), 10**400, True)],
        *[{"prior": PRIOR | {"kernel": v}} for v in ("none", None, ["rbf"])],
        {"prior": PRIOR | {"signal_variance": [1.0, 1.0], "noise_variance": [0.0] * 3}},
        *[{"budget": v} for v in ([], 5, "5", [0], [1, 2, 3], [5, 3], [1.5], [10**400], [True])],
        *[{"direction": v} for v in ("up", 1, [], {})],
        *[{"replaces": v} for v in ("a", [1], ["short"], {})],
        *[{"family": v} for v in (1, None, [])],
    ],
    ids=lambda changes: json.dumps(changes)[:60],
)
def test_every_mistake_in_a_card_is_one_sentence_at_once(tmp_path, changes):
    path = write(tmp_path / "a.safetensors", json.dumps(card(**changes)))
    with pytest.raises(
        DataError, match=r"The card of `.*` has .* that cannot be used: "
    ) as refused:
        load(path)
    assert len(str(refused.value)) < 700
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DEEP, "must be JSON, but it is nested too deeply"),
        (json.dumps(card(space=1)).replace(": 1}", f": {DEEP}}}"), "nested too deeply"),
        (f'{{"format": {"9" * 5000}}}', "must have numbers that a float can hold"),
        ("", "must be JSON, but it is not"),
        ("[]", "must be an object, but is"),
        ("null", "must be an object, but is None"),
        ('{"format": true}', "has artifact format True, but this version"),
        ('{"format": [1]}', r"has artifact format \[1\], but this version"),
        (" " * (MAX_TEXT + 1), f"must have at most {MAX_TEXT} characters, but has {MAX_TEXT + 1}"),
    ],
    ids=["deep", "deep space", "digits", "empty", "list", "null", "true", "format", "long"],
)
def test_a_text_that_is_no_card_is_named(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        parse_card(text, tmp_path / "a.safetensors")
    with pytest.raises(DataError, match=message):
        load(write(tmp_path / "a.safetensors", text))


def test_a_space_nested_just_less_deeply_than_python_allows_is_refused_too(tmp_path):
    for depth in range(200, 1000, 50):
        text = json.dumps(card(space=0)).replace(": 0}", f": {'[' * depth}{']' * depth}}}")
        with pytest.raises(DataError, match=r"cannot be used|nested too deeply"):
            load(write(tmp_path / "a.safetensors", text))


def test_a_header_that_claims_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "a.safetensors"
    path.write_bytes((2**40).to_bytes(8, "little") + b"{}")
    with pytest.raises(DataError, match=r"its header says it has 1099511627776 bytes, more than"):
        load(path)


def test_a_prior_reads_what_it_recorded_and_nothing_else():
    expected = torch.tensor([[0.2, 0.3]], dtype=torch.float64)
    assert torch.equal(Prior.read(PRIOR).lengthscale, expected)
    with pytest.raises(DataError, match=r"must have positive lengthscales .* finite numbers only"):
        Prior.read(PRIOR | {"noise_variance": [float("inf")]})
    with pytest.raises(DataError, match="'jitter' is missing"):
        Prior.read({key: value for key, value in PRIOR.items() if key != "jitter"})
