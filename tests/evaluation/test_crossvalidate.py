import json
import signal
import subprocess
import sys
from shutil import copytree, rmtree

import pytest
import torch

from metabo.errors import DataError, OptionError
from metabo.evaluation.crossvalidate import _best, _mean_curve, cross_validate
from metabo.evaluation.evaluate import evaluate

TINY = {
    "members": 1,
    "iterations": 4,
    "validate_every": 2,
    "episodes": 4,
    "hidden": (4,),
    "minibatches": 2,
}
FEW = ("metabo", "portfolio", "random")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("crossvalidation")
    rows = [
        f"set-{d},{a / 3},{10**b},{1 - (a / 3 - d / 8) ** 2 - (b / 3 - d / 8) ** 2}"
        for d in range(9)
        for a in range(4)
        for b in range(4)
    ]
    (tmp_path / "past").mkdir()
    (tmp_path / "past" / "all.csv").write_text("\n".join(["dataset,a,b,value", *rows]))
    (tmp_path / "past" / "table.json").write_text('{"budget": 5}')
    return tmp_path / "past"


def run(folder, out, jobs=1):
    return cross_validate(
        f"table:{folder}",
        out=out,
        folds=3,
        methods=FEW,
        validate=2,
        repeats=2,
        jobs=jobs,
        **TINY,
    )


@pytest.fixture(scope="module")
def done(folder):
    """The folder of a cross-validation, and its outcome."""
    return folder.parent / "cv", run(folder, folder.parent / "cv")


@pytest.mark.slow
def test_every_data_set_is_tested_once_by_who_has_not_seen_it(done):
    out, outcome = done
    assert sorted(outcome.datasets) == [f"set-{d}" for d in range(9)]
    assert {name: r.shape for name, r in outcome.regret.items()} == dict.fromkeys(FEW, (2, 9, 5))
    for k in range(3):
        card = json.loads((out / f"fold-{k}" / "tasks.json").read_text())
        config = json.loads((out / f"fold-{k}" / "config.json").read_text())
        tested = {task["dataset"] for task in card}
        assert config["stop_at"] == outcome.stops[k]
        assert tested == set(outcome.datasets[3 * k : 3 * k + 3])
    stored = json.loads((out / "crossvalidation.json").read_text())
    mean = outcome.regret["random"].mean((0, 1))
    assert stored["methods"]["random"]["mean"] == pytest.approx(mean.tolist(), rel=1e-4)


@pytest.mark.slow
def test_a_fold_is_what_evaluate_gives_for_it(folder, done):
    out, outcome = done
    fold = out / "fold-1"
    runs = [
        evaluate(
            f"table:{folder}:folds=3:fold=1",
            methods=FEW,
            task_file=fold / "tasks.json",
            artifact=fold / "af.safetensors",
            seed=seed,
        )
        for seed in (0, 1)
    ]
    for name in FEW:
        regret = torch.stack([r.methods[name].regret for r in runs])
        assert torch.equal(outcome.regret[name][:, 3:6], regret)


@pytest.mark.slow
def test_what_is_finished_is_not_done_again(folder, done):
    out, first = done
    files = list(out.rglob("af.safetensors"))
    times = [p.stat().st_mtime_ns for p in files]
    again = run(folder, out)
    assert [p.stat().st_mtime_ns for p in files] == times
    assert all(torch.equal(first.regret[m], again.regret[m]) for m in FEW)


@pytest.mark.slow
def test_folds_that_were_not_finished_are_trained_and_no_others(folder, done, tmp_path):
    out, first = tmp_path / "cv", done[1]
    copytree(done[0], out)
    (out / "fold-1" / "af.safetensors").unlink()
    rmtree(out / "fold-2")
    kept = {p: p.stat().st_mtime_ns for p in out.rglob("af.safetensors")}
    again = run(folder, out)
    assert {p: p.stat().st_mtime_ns for p in kept} == kept
    assert len(list(out.rglob("af.safetensors"))) == len(kept) + 2
    assert all(torch.equal(first.regret[m], again.regret[m]) for m in FEW)


def test_training_is_cut_short_only_where_going_on_is_clearly_worse():
    lucky = [(10, 0.0), (20, 9.0), (30, 0.0), (40, 4.0), (50, 5.0), (60, 4.0)]
    assert _best(lucky) == 60
    worse = [(10, 0.0), (20, 5.0), (30, 5.2), (40, 5.1), (50, 2.0), (60, 1.0), (70, 0.0)]
    assert _best(worse) in (30, 40)
    assert _best([(10, 1.0), (20, 1.0), (30, 1.0)]) == 30


def test_only_tables_have_folds(tmp_path):
    with pytest.raises(OptionError, match=r"a family of tables, but `branin` has no"):
        cross_validate("branin", out=tmp_path)


def test_folds_are_given_apart_from_the_family(folder, tmp_path):
    with pytest.raises(OptionError, match=r"Leave `fold`, `folds`, `validate` and `turn` out"):
        cross_validate(f"table:{folder}:fold=1", out=tmp_path)


@pytest.mark.slow
def test_several_at_a_time_do_what_one_after_another_does(folder, done, tmp_path):
    out, outcome = tmp_path / "cv", done[1]
    copytree(done[0], out)
    for k in range(3):  # the folds are trained again; what was validated is kept
        rmtree(out / f"fold-{k}")
    torch.set_num_threads(1)  # as the workers have: sums may depend on it
    both = run(folder, out, jobs=2)
    assert both.stops == outcome.stops
    assert all(torch.allclose(both.regret[m], outcome.regret[m]) for m in FEW)


@pytest.mark.slow
def test_runs_of_other_data_are_not_taken_for_these(folder, tmp_path):
    past = tmp_path / "past"
    copytree(folder, past)
    one = {"folds": 3, "methods": ["random"], "validate": 0, "repeats": 1, "jobs": 1}
    tiny = TINY | {"iterations": 1}
    out = tmp_path / "cv"
    cross_validate(f"table:{past}", out=out, **one, **tiny)
    with pytest.raises(DataError, match=r"holds a cross-validation with another `folds`"):
        cross_validate(f"table:{past}", out=out, **one | {"folds": 4}, **tiny)
    with pytest.raises(DataError, match=r"holds a cross-validation with another `iterations`"):
        cross_validate(f"table:{past}", out=out, **one, **TINY)
    more = "\n".join(f"set-x,{a / 3},{10**b},{a * b}" for a in range(4) for b in range(4))
    with (past / "all.csv").open("a") as file:
        file.write(f"\n{more}\n")
    with pytest.raises(DataError, match=r"another `data`. Choose another folder with `--out`"):
        cross_validate(f"table:{past}", out=out, **one, **tiny)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["metabo", "pontfolio"]}, r"Unknown method `pontfolio`"),
        ({"methods": ["ei", "ei"]}, r"Each method can be given once"),
        ({"methods": ["ucb:beta=x"]}, r"Option `beta` of method `ucb` must be a finite number"),
        ({"preset": "nope"}, r"Unknown preset `nope`"),
        ({"episodes": 0}, r"`episodes`"),
        ({"jobs": 0}, r"`jobs` must be a whole number in 1..1024, but got 0"),
        ({"folds": 1}, r"`folds` must be a whole number in 2..9, but got 1"),
        ({"folds": 10}, r"`folds` must be a whole number in 2..9, but got 10"),
    ],
)
def test_mistakes_come_to_light_before_the_first_training(folder, tmp_path, options, message):
    given = {"folds": 3, "validate": 2} | options
    with pytest.raises(OptionError, match=message):
        cross_validate(f"table:{folder}", out=tmp_path / "cv", **given)
    assert not (tmp_path / "cv").exists()


def test_runs_that_lose_patience_are_compared_as_far_as_all_go():
    curves = [[(10, 1.0), (20, 3.0)], [(10, 3.0), (20, 1.0), (30, 9.0)]]
    assert _mean_curve(curves) == [(10, 2.0), (20, 2.0)]


@pytest.mark.slow
def test_leaving_one_out_tests_each_data_set_alone(folder, tmp_path):
    past, out, told = tmp_path / "past", tmp_path / "cv", []
    copytree(folder, past)
    settings = {"budget": 3, "together": [["set-0", "set-8"]]}
    (past / "table.json").write_text(json.dumps(settings))
    outcome = cross_validate(
        f"table:{past}",
        out=out,
        folds="leave-one-out",
        methods=["metabo", "random"],
        validate=0,
        repeats=1,
        jobs=1,
        on_progress=lambda *words: told.append(words),
        **TINY | {"iterations": 2},
    )
    tasks = [json.loads((out / f"fold-{k}" / "tasks.json").read_text()) for k in range(8)]
    assert sorted(map(len, tasks)) == [1] * 7 + [2]  # those of one origin are one
    assert sorted(outcome.datasets) == [f"set-{d}" for d in range(9)]
    training = [(done, total) for what, done, total in told if what == "training"]
    assert training == [(n, 16) for n in [*range(1, 17), 16]]
    assert [words for words in told if words[0] == "testing"] == [
        ("testing", k, 8) for k in range(9)
    ]


SCRIPT = """
from pathlib import Path
from metabo.evaluation.crossvalidate import cross_validate
{guard}    cross_validate(
        "table:{folder}", out=Path("{out}"), folds=3, methods={methods}, validate=2, repeats=2,
        jobs=2, on_progress=lambda *words: print(*words, flush=True), **{settings}
    )
"""


def script(tmp_path, folder, guard, settings):
    path = tmp_path / "script.py"
    out = tmp_path / "cv"
    path.write_text(
        SCRIPT.format(guard=guard, folder=folder, out=out, methods=FEW, settings=settings)
    )
    return [sys.executable, str(path)], out


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_of_it(folder, tmp_path):
    command, _ = script(tmp_path, folder, "if True:\n", TINY)
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    last = ended.stderr.strip().splitlines()[-1]
    assert 'put the call under `if __name__ == "__main__":`, or give `jobs=1`' in last


@pytest.mark.slow
def test_workers_end_with_the_process_that_began_them(folder, tmp_path):
    settings = TINY | {"iterations": 4000, "checkpoint_every": 1}
    command, out = script(tmp_path, folder, 'if __name__ == "__main__":\n', settings)
    begun = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while begun.stdout.readline().split()[:2] in (["training", "0"], []):
        assert begun.poll() is None
    begun.send_signal(signal.SIGKILL)
    # The workers write to the same pipe: it ends when the last one of them does.
    begun.communicate(timeout=60)
    lines = [len(path.read_text().splitlines()) for path in out.rglob("log.jsonl")]
    assert lines
    assert max(lines) < settings["iterations"]
