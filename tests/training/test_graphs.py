from dataclasses import dataclass

import pytest
import torch
from safetensors.torch import load_file

from metabo.tasks import family
from metabo.training import Trainer, preset
from metabo.training.graphs import Replayed, rebuilt

on_gpu = pytest.mark.gpu


@dataclass(frozen=True)
class Pair:
    left: torch.Tensor
    right: torch.Tensor


@on_gpu
def test_a_replayed_function_gives_what_the_function_gives(cuda):
    total = torch.zeros((), device=cuda)

    def scaled(pair, factor):
        total.add_(1)
        return pair.left * factor + pair.right

    replayed = Replayed(scaled, [total])
    for n in (3, 5, 3):
        for factor in (2, 3):
            pair = Pair(torch.rand(n), torch.rand(n))
            result = replayed(pair, factor)
            torch.testing.assert_close(result.cpu(), pair.left * factor + pair.right)
    assert total.item() == 6


def test_what_a_trial_run_has_cached_is_not_recorded():
    tasks = family("gp-rbf").sample(2, torch.Generator().manual_seed(0))
    _ = tasks.waves
    (again, number) = rebuilt((tasks, 3))
    assert number == 3
    assert again.seed is tasks.seed
    assert "waves" in vars(tasks)
    assert "waves" not in vars(again)


def tiny(name="branin", **changes):
    options = {"episodes": 8, "iterations": 6, "n_global": 40, "validation_tasks": 4}
    return preset("fast", name, device="cuda", validate_every=3, **options, **changes)


def weights(folder):
    return load_file(folder / "checkpoint.safetensors")


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@on_gpu
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"critic": "regret", "group": 2},
        {"candidates": ("fine", "grid"), "final_entropy_coefficient": 0.0},
    ],
)
@pytest.mark.parametrize("name", ["branin", "gp-matern52"])
def test_recorded_training_is_eager_training(cuda, tmp_path, name, changes):
    Trainer(tiny(name, **changes), tmp_path / "recorded").run()
    Trainer(tiny(name, **changes), tmp_path / "eager", record=False).run()
    assert same(weights(tmp_path / "recorded"), weights(tmp_path / "eager"))


@on_gpu
def test_resumed_training_ends_with_the_same_bits(cuda, tmp_path):
    config = tiny(budget=6, least_budget=4, critic="regret")
    Trainer(config, tmp_path / "whole").run()
    for number in range(6):
        Trainer(config, tmp_path / "parts", resume=number > 0).run(seconds=0)
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "parts"))
