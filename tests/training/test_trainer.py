import json
import math
import signal
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from metabo import evaluate
from metabo.errors import DataError, OptionError, OutputError
from metabo.pretrained import load
from metabo.sources import learned_prior
from metabo.space.schema import from_json
from metabo.tasks import family
from metabo.training import Trainer, TrainingError, preset
from metabo.training.api import run_training
from metabo.training.draws import draw_budget

TINY = {
    "hidden": (16, 16),
    "prior": "plain",  # a learned one takes seconds
    "episodes": 8,
    "iterations": 5,
    "budget": 4,
    "n_global": 40,
    "minibatches": 2,
    "validation_tasks": 4,
    "validate_every": 2,
    "checkpoint_every": 2,
    "final_entropy_coefficient": 0.0,
}


def tiny(**changes):
    return preset("fast", "branin", **(TINY | changes))


@pytest.mark.slow
@pytest.mark.parametrize("final", [0.0, None])
def test_the_entropy_bonus_falls_by_a_cosine(tmp_path, final):
    trainer = Trainer(
        tiny(iterations=4, entropy_coefficient=0.4, final_entropy_coefficient=final), tmp_path
    )
    update, seen = trainer.update, []
    trainer.update = lambda batch, order, bonus: (
        seen.append(bonus.item()) or update(batch, order, bonus)
    )
    trainer.run()
    cosine = [0.2 * (1 + math.cos(math.pi * number / 4)) for number in range(4)]
    assert seen == pytest.approx(4 * [0.4] if final is None else cosine)


def weights(folder):
    return load_file(folder / "checkpoint.safetensors")


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_a_run_leaves_an_artifact_a_log_and_its_configuration(tmp_path):
    seen = []
    path = Trainer(tiny(), tmp_path).run(on_event=seen.append)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4, 5]
    assert [line["score"] is not None for line in lines] == [False, True, False, True, True]
    assert [event.iteration for event in seen] == [1, 2, 3, 4, 5]
    assert json.loads((tmp_path / "config.json").read_text()) == tiny().record()
    card = load(path).card
    scores = {line["iteration"]: line["score"] for line in lines if line["score"] is not None}
    assert card["training"]["best_score"] == max(scores.values())
    assert scores[card["training"]["best_iteration"]] == max(scores.values())
    methods = {"metabo", "ei", "random"}
    assert set(card["validation"]["median_regret"]) == methods
    assert from_json(card["space"]) == load(path).space == family("branin").space
    assert load(path).prior.record() == family("branin").prior.record()


@pytest.mark.slow
def test_stopped_after_every_iteration_a_run_ends_with_the_same_bits(tmp_path):
    Trainer(tiny(), tmp_path / "whole").run()
    for number in range(5):
        Trainer(tiny(), tmp_path / "parts", resume=number > 0).run(seconds=0)
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "parts"))
    whole, parts = (load(tmp_path / name / "af.safetensors") for name in ("whole", "parts"))
    assert same(whole.state_dict(), parts.state_dict())
    lines = (tmp_path / "parts" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_killed_outright_a_run_resumes_to_the_same_bits(tmp_path):
    code = (
        "from pathlib import Path; from metabo.training import Trainer, preset; "
        f"config = preset('fast', 'branin', **{TINY | {'iterations': 12}}); "
        f"Trainer(config, Path({str(tmp_path / 'a')!r}))"
        ".run(on_event=lambda event: print(event.iteration, flush=True))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    for _ in range(5):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    log = tmp_path / "a" / "log.jsonl"
    assert 5 <= log.read_text().count("\n") < 12
    config = tiny(iterations=12)
    Trainer(config, tmp_path / "a", resume=True).run()
    Trainer(config, tmp_path / "b").run()
    assert same(weights(tmp_path / "a"), weights(tmp_path / "b"))


def test_a_folder_with_a_run_is_not_overwritten(tmp_path):
    Trainer(tiny(), tmp_path).run(seconds=0)
    with pytest.raises(
        DataError, match=r"already contains a training run. Pass `resume=True` to continue it, or"
    ):
        Trainer(tiny(), tmp_path)


@pytest.mark.slow
def test_stopped_before_any_validation_the_trained_weights_are_kept(tmp_path):
    config = tiny(validate_every=5)
    untrained = Trainer(config, tmp_path).af.network[0].weight.clone()
    af = load(Trainer(config, tmp_path).run(seconds=0))
    assert not torch.equal(af.network[0].weight, untrained.double())
    assert af.card["training"]["best_iteration"] == 1
    with pytest.raises(
        OptionError, match="`seconds` must be a finite number of at least 0, but got -1"
    ):
        run_training(config, tmp_path, resume=True, seconds=-1)


def test_lines_of_a_run_that_left_no_checkpoint_are_forgotten(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"iteration": 1}\n{"iteration": 2}\n{"iter')
    Trainer(tiny(), tmp_path).run(seconds=0)
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == [1]


def test_a_log_of_something_else_is_left_alone(tmp_path):
    for foreign in ('{"loss": 1}\n', "hello\n"):
        (tmp_path / "log.jsonl").write_text(foreign)
        with pytest.raises(
            DataError, match=r"Line 1 of .*log.jsonl` is not a line of a training log"
        ):
            Trainer(tiny(), tmp_path).run(seconds=0)
        assert (tmp_path / "log.jsonl").read_text() == foreign


def test_there_must_be_a_run_to_resume(tmp_path):
    with pytest.raises(DataError, match=r"There is no training run in .*nowhere` to resume"):
        Trainer(tiny(), tmp_path / "nowhere", resume=True)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        Trainer(tiny(), tmp_path / "file").run(seconds=0)


@pytest.mark.slow
def test_the_precision_of_products_is_put_back(tmp_path):
    before = torch.get_float32_matmul_precision()
    Trainer(tiny(precision="tf32"), tmp_path).run(seconds=0)
    assert torch.get_float32_matmul_precision() == before


def test_values_that_are_not_finite_are_named(tmp_path, monkeypatch):
    trainer = Trainer(tiny(), tmp_path)
    collect = trainer.collect

    def broken(*args):
        batch, episodes = collect(*args)
        episodes.observed[0, 0] = torch.nan
        return batch, episodes

    trainer.collect = broken
    with pytest.raises(DataError, match="A task of `branin` gave a value that is not finite"):
        trainer.run(seconds=0)


def test_a_foreign_checkpoint_is_named(tmp_path):
    path = Trainer(tiny(), tmp_path).run(seconds=0)
    path.replace(tmp_path / "checkpoint.safetensors")
    with pytest.raises(DataError, match="it is not a checkpoint of metabo"):
        Trainer(tiny(), tmp_path, resume=True)


def test_another_configuration_is_named_by_its_first_difference(tmp_path):
    Trainer(tiny(), tmp_path).run(seconds=0)
    with pytest.raises(DataError, match=r"another configuration: `gamma` was 0.98, now 0.9"):
        Trainer(tiny(gamma=0.9, clip=0.3), tmp_path, resume=True)


@pytest.mark.parametrize("changed", ["a", "b", "c", "d"])  # learned from, validated and tested on
def test_a_run_on_a_table_does_not_go_on_with_other_results(tmp_path, changed):
    past = tmp_path / "past"
    past.mkdir()
    rows = "".join(f"{d},{x / 4},{(x - n) ** 2}\n" for n, d in enumerate("abcd") for x in range(5))
    (past / "all.csv").write_text("dataset,x,value\n" + rows)
    (past / "table.json").write_text('{"budget": 3, "test": ["d"]}')
    config = preset("table", f"table:{past}:validate=1", **TINY | {"budget": 3})
    Trainer(config, tmp_path / "run").run(seconds=0)
    table = (past / "all.csv").read_text()
    (past / "all.csv").write_text(table.replace(f"\n{changed},0.5,", f"\n{changed},0.5,9"))
    assert (past / "all.csv").read_text() != table
    if changed == "d":  # what is only tested on may change
        Trainer(config, tmp_path / "run", resume=True)
        return
    with pytest.raises(
        DataError, match=r"run` contains a run on other data: the fingerprint of `tab"
    ):
        Trainer(config, tmp_path / "run", resume=True)


def test_with_a_learned_prior_too_a_resumed_run_is_the_uninterrupted_one(tmp_path, unchecked):
    config = tiny(prior="learned", sources=10, iterations=3)
    whole = Trainer(config, tmp_path / "whole").run()
    Trainer(config, tmp_path / "parts").run(seconds=0)
    parts = Trainer(config, tmp_path / "parts", resume=True).run()
    one, other = load_file(whole), load_file(parts)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_without_iterations_the_prior_is_learned_alone(tmp_path):
    path = Trainer(tiny(iterations=0, prior="learned", sources=10), tmp_path).run()
    af, setting = load(path), family("branin")
    assert af.prior.learned is not None
    assert torch.equal(af.prior.learned.weights, learned_prior(setting, 10).learned.weights)
    methods = ["metabo", "logei:prior=learned:M=10"]
    done = evaluate(setting, methods=methods, tasks=2, budget=3, artifact=path)
    one, other = (result.queries for result in done.methods.values())
    torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def test_a_prior_alone_needs_a_preset_that_learns_one(tmp_path):
    with pytest.raises(OptionError, match="needs `prior=learned` and a `residual`"):
        preset("paper", "branin", iterations=0)


def test_divergence_stops_with_what_to_do(tmp_path):
    config = tiny(learning_rate=1e30, final_learning_rate=1e30, max_gradient_norm=None)
    with pytest.raises(TrainingError, match=r"diverged in iteration 1: .*Try a lower"):
        Trainer(config, tmp_path).run()


def test_an_unknown_device_is_named(tmp_path):
    with pytest.raises(OptionError, match="Unknown device on this machine: `cuda:99`"):
        Trainer(tiny(device="cuda:99"), tmp_path)


def test_sources_are_fixed_and_validation_tasks_are_others(tmp_path):
    trainer = Trainer(tiny(sources=3), tmp_path)
    generator = torch.Generator().manual_seed(0)
    drawn = trainer.family.sample(50, generator).translation
    assert len(drawn.unique(dim=0)) == 3
    others = trainer._validation_tasks().translation
    assert not (others[:, None] == drawn).all(-1).any()


@pytest.mark.slow
def test_budgets_are_drawn_per_batch_between_their_bounds(tmp_path):
    trainer = Trainer(tiny(least_budget=2), tmp_path)
    drawn = [draw_budget(trainer.budgets, trainer.config.seed, number) for number in range(60)]
    assert set(drawn) == {2, 3, 4}
    path = trainer.run()
    assert load(path).card["budget"] == [2, 4]
    with pytest.raises(OptionError, match="`least_budget` must be at most the budget, 4, but got"):
        Trainer(tiny(least_budget=5), tmp_path / "other")


@pytest.mark.slow
def test_with_patience_a_run_stops_when_validation_stalls(tmp_path):
    rates = {"learning_rate": 1e-30, "final_learning_rate": 1e-30}  # nothing ever gets better
    config = tiny(**rates, iterations=50, validate_every=1, patience=3)
    trainer = Trainer(config, tmp_path)
    trainer.run()
    assert (trainer.progress.best_iteration, trainer.progress.iteration) == (1, 4)
    again = Trainer(config, tmp_path, resume=True)
    again.run()
    assert again.progress.iteration == 4


@pytest.mark.slow
def test_training_in_bf16_learns_other_weights_of_the_same_kind(tmp_path):
    Trainer(tiny(), tmp_path / "fp32").run()
    Trainer(tiny(precision="bf16"), tmp_path / "bf16").run()
    a, b = weights(tmp_path / "fp32"), weights(tmp_path / "bf16")
    assert not same(a, b)
    assert all(b[name].dtype == a[name].dtype and b[name].isfinite().all() for name in a)


def test_more_minibatches_than_steps_are_refused(tmp_path):
    with pytest.raises(OptionError, match=r"`minibatches` must be at most .* 32, but got 33"):
        Trainer(tiny(minibatches=33), tmp_path)


@pytest.mark.slow
def test_branin_is_learned_from_scratch_in_seconds(tmp_path):
    changes = {"hidden": (32, 32), "iterations": 30, "validate_every": 30, "learning_rate": 4e-3}
    changes |= {"prior": "plain", "residual": "mean", "residual_weight": 20.0, "horizon": None}
    changes |= {"candidates": ("fine", "coarse"), "episodes": 40, "group": 1}
    config = preset("fast", "branin", **changes, budget=12, n_global=100, minibatches=4)
    trainer = Trainer(config, tmp_path)
    untrained = trainer._validate()
    trainer.run()
    assert untrained < 1.0
    assert trainer.progress.best_score > 1.6
