import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from metabo.cli.app import in_shell_words
from metabo.paper import catalogue, job, results
from metabo.paper.catalogue import Experiment, Scale


@pytest.mark.slow
def test_list_names_everything(metabo, unchecked):
    code, out, _ = metabo("list")
    assert code == 0
    for name in (
        "branin",
        "goldstein-price",
        "hartmann-3",
        "rhino-2",
        "furuta-real",
        "logei",
        "ucb",
        "gradient",
    ):
        assert name in out
    assert "None" not in out
    assert "can be set: `metabo train FAMILY --set NAME=VALUE`" in out


def test_evaluate_prints_a_table_and_writes_both_files(metabo, tmp_path):
    code, out, _ = metabo(
        "evaluate",
        "branin",
        "--methods",
        "ei,random",
        "--tasks",
        3,
        "--budget",
        4,
        "--out",
        tmp_path,
    )
    assert code == 0
    assert "median simple regret, 3 tasks" in out
    assert {p.name for p in tmp_path.iterdir()} == {"results.json", "regret.png"}
    record = json.loads((tmp_path / "results.json").read_text())
    assert list(record["methods"]) == ["ei", "random"]
    median = record["methods"]["ei"]["median"]
    assert f"{median[0]:.1e}" in out
    assert f"{median[-1]:.1e}" in out
    assert (tmp_path / "regret.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_train_shows_what_it_reached_and_can_be_resumed(metabo, tmp_path):
    folder = tmp_path / "run"
    start = ("train", "rhino-2", "--preset", "fast", "--iterations", 2, "--out", folder)
    code, _, _ = metabo(*start, "--seconds", 0)
    assert code == 0
    code, _, err = metabo(*start)
    assert code == 2
    assert "already contains a training run. Pass `--resume` to continue it" in err
    code, out, _ = metabo(*start, "--resume")
    assert code == 0
    assert "validation tasks" in out
    assert {p.name for p in folder.iterdir()} == {
        "af.safetensors",
        "checkpoint-before.safetensors",
        "checkpoint.safetensors",
        "config.json",
        "curve.png",
        "log.jsonl",
    }
    code, out, _ = metabo(
        *("evaluate", "rhino-2", "--methods", "metabo,random", "--tasks", 3, "--budget", 2),
        *("--artifact", folder / "af.safetensors", "--out", tmp_path / "e"),
    )
    assert code == 0


@pytest.mark.slow
def test_an_interrupted_training_names_the_command_that_continues_it(
    metabo, tmp_path, monkeypatch
):
    from metabo.training import trainer

    folder, iterate = tmp_path / "t 1", trainer.Trainer._iterate

    def interrupted(self, elapsed):
        os.kill(os.getpid(), signal.SIGINT)
        return iterate(self, elapsed)

    monkeypatch.setattr(trainer.Trainer, "_iterate", interrupted)
    start = ("train", "rhino-2", "--preset", "fast", "--iterations", 3, "--out", folder)
    code, _, errors = metabo(*start)
    assert code == 130
    assert errors.splitlines()[-1] == (
        "Interrupted after iteration 1 of 3; everything is saved. Continue with: metabo train "
        f"rhino-2 --preset fast --iterations 3 --out '{folder}' --resume"
    )
    code, _, errors = metabo(*start)
    assert code == 2
    assert (
        f"Error: `{folder}` already contains a training run. Pass `--resume` to continue it, or "
        "choose another `--out`."
    ) in errors
    assert metabo(*start, "--resume")[0] == 130
    assert len((folder / "log.jsonl").read_text().splitlines()) == 2


def test_brackets_in_a_folders_name_are_just_brackets(metabo, tmp_path):
    folder = tmp_path / "a[b]" / "[/x]"
    code, out, _ = metabo(
        "evaluate", "rhino-1", "--methods", "random", "--budget", 2, "--out", folder
    )
    assert code == 0
    assert f"Wrote {folder}/results.json and {folder}/regret.png" in out


@pytest.mark.parametrize(
    ("artifact", "warning"),
    [
        (
            "goldstein-price",
            "Warning: The artifact `goldstein-price` was trained on family `goldstein-price`, "
            "not on `branin:noise=0.1`.\n",
        ),
        ("branin-50", ""),
    ],
)
def test_an_artifact_of_another_family_is_used_with_a_warning(metabo, tmp_path, artifact, warning):
    code, _, err = metabo(
        *("evaluate", "branin:noise=0.1", "--methods", "metabo", "--artifact", artifact),
        *("--tasks", 2, "--budget", 2, "--out", tmp_path),
    )
    assert code == 0
    assert err.startswith(warning)
    assert ("Warning" in err) == bool(warning)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "brannin"), "Error: Unknown family `brannin`. Did you mean `branin`?"),
        (("evaluate", "branin", "--methods", "eii"), "Error: Unknown method `eii`."),
        (("evaluate", "branin", "--task-file", "missing.json"), "Error: The task file"),
        (
            ("evaluate", "branin", "--search", "x"),
            "Error: `--search` must be `gradient`, `grid` or `sobol`, but got `x`.",
        ),
        (("evaluate", "branin", "--out", "/proc/nowhere"), "Error: The output folder"),
        (("evaluate", "branin", "--out", "x" * 300), "Error: The output folder"),
        (("evaluate", "[/red]"), "Error: Unknown family `[/red]`."),
        (
            ("evaluate", "branin", "--methods", "ucb:beta=-1"),
            "Error: `beta` must be a finite number of at least 0",
        ),
        (
            ("evaluate", "branin:sources=99999999999999999"),
            "Error: `sources` must be a whole number in",
        ),
        (
            ("evaluate", "branin", "--artifact", "branin"),
            "Error: The artifact `branin` is for the method `metabo`, which is not among",
        ),
        (
            ("evaluate", "branin", "--artifact", "branin", "--methods", "metabo-50"),
            "which is not among the methods `metabo-50`. Add it, or leave out the artifact.",
        ),
        (
            ("evaluate", "branin", "--tasks", "many"),
            "Error: `--tasks` must be a whole number of at least 1, but got `many`.",
        ),
        (("evaluate", "branin", "--tasks", "0"), "at least 1, but got `0`."),
        (("train", "branin", "--seconds", "-1"), "must be a number of at least 0, but got `-1`."),
        (("train", "branin", "--preset", "papr"), "Error: `--preset` must be `default`, `paper`,"),
        (("evaluate", "branin", "--device", "gpu"), "Error: `--device` must be `cpu`, `cuda` or"),
        (("evaluate", "branin", "--task", "3"), "There is no option `--task`. Did you mean"),
        (("evaluate", "branin", "--nosuch"), "There is no option `--nosuch`. See `"),
        (("evaluate", "branin", "--tasks"), "Option `--tasks` requires an argument."),
        (("evaluate",), "Error: The argument `FAMILY` is missing. See `"),
        (("evaluat",), "Error: Unknown command `evaluat`. Did you mean `evaluate`?"),
        (("foo",), "Error: Unknown command `foo`. Choose from: `ask`"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(
    metabo, tmp_path, monkeypatch, unchecked, arguments, message
):
    monkeypatch.chdir(tmp_path)
    code, _, err = metabo(*arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_module_runs_as_a_command():
    command = [sys.executable, "-m", "metabo", "evaluate", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: Unknown family `nothing`.")


@pytest.mark.slow
def test_the_core_needs_no_plotting_terminal_or_shape_library():
    code = (
        "import sys; sys.modules['jaxtyping'] = None; "
        "import metabo; metabo.evaluate('branin', tasks=1, budget=2); "
        "bad = {'matplotlib', 'rich', 'typer', 'scipy', 'gpytorch'} & set(sys.modules); "
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_report_runs_what_is_missing_only_when_told_to(metabo, small, tmp_path):
    arguments = ("report", "small", "--scale", "smoke", "--out", tmp_path)
    code, out, _ = metabo(*arguments)
    assert code == 0
    assert "9 of 9 results are missing" in out
    assert f"`metabo report --scale smoke --out {tmp_path} --rerun`" in out
    assert out.count("\n") == 1
    assert "clone of metabo's repository" in out
    assert not list(tmp_path.iterdir())
    assert not list(Path().iterdir())
    code, out, _ = metabo(*arguments, "--rerun")
    assert code == 0
    assert "missing" not in out
    assert "metabo-50" in out
    files = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.json")}
    assert len(files) == 9
    assert (tmp_path / "small/smoke/small.png").read_bytes().startswith(b"\x89PNG")
    next(iter(files)).unlink()
    code, out, _ = metabo(*arguments)
    assert "1 of 9 results are missing" in out
    metabo(*arguments, "--rerun")
    again = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.json")}
    assert sum(again[p] != files[p] for p in files) == 1


@pytest.fixture
def small(monkeypatch):
    """A catalogue of one small experiment."""
    one = Experiment(
        "small", "A test", "regret", ("metabo-50", "ei", "random"), {"smoke": Scale(2, 1)}
    )
    monkeypatch.setattr(catalogue, "EXPERIMENTS", {"small": one})
    monkeypatch.setattr(catalogue, "experiment", lambda _: one)
    return one


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder for the results of the small experiment, filled by the first test that needs it."""
    return tmp_path_factory.mktemp("stored")


@pytest.fixture
def reported(metabo, small, tmp_path, stored):
    """Arguments for the small experiment, all of whose results are stored."""
    if not list(stored.iterdir()):
        assert metabo("report", "small", "--scale", "smoke", "--out", stored, "--rerun")[0] == 0
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    return ("report", "small", "--scale", "smoke", "--out", tmp_path)


def times(folder):
    return {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


@pytest.mark.slow
def test_report_only_reads_unless_told_otherwise(metabo, reported, tmp_path):
    before = times(tmp_path)
    code, out, _ = metabo(*reported)
    assert code == 0
    assert "over its own 100 functions" in " ".join(out.split())
    assert times(tmp_path) == before
    picture = tmp_path / "small/smoke/small.png"
    picture.unlink()
    assert f"Wrote {picture}" in metabo(*reported)[1]


@pytest.mark.slow
def test_report_reads_each_file_of_the_chosen_experiment_once_and_no_other(
    metabo, reported, small, tmp_path, monkeypatch
):
    seen = []

    def read_bytes(path, *words):
        seen.append(path)
        return original(path, *words)

    original = results.read_bytes
    monkeypatch.setattr(results, "read_bytes", read_bytes)
    metabo(*reported, "--page", tmp_path / "page")
    assert seen == [tmp_path / unit.path for unit in small.units("smoke")]


@pytest.mark.slow
def test_report_writes_a_page_and_says_so(metabo, reported, tmp_path):
    page = tmp_path / "page"
    code, out, _ = metabo(*reported, "--page", page)
    assert code == 0
    assert f"Wrote {page / 'report.html'}" in out
    assert "id='small'" in (page / "report.html").read_text()
    assert (page / "small.svg").exists()
    (tmp_path / "file").touch()
    code, out, _ = metabo(*reported, "--page", tmp_path / "file" / "page")
    assert code == 0
    assert "Cannot write the report to" in out


@pytest.mark.slow
def test_report_that_misses_nothing_names_the_way_to_run_all_again(metabo, reported, tmp_path):
    before = {p: t for p, t in times(tmp_path).items() if p.suffix == ".json"}
    code, out, _ = metabo(*reported, "--rerun")
    assert code == 0
    assert f"nothing is missing in {tmp_path}. Run all of it again with `metabo report" in out
    assert f"--out {tmp_path} --force`" in out
    assert before.items() <= times(tmp_path).items()


@pytest.mark.slow
def test_a_stopped_forced_report_goes_on_where_it_stopped(
    metabo, reported, small, tmp_path, monkeypatch
):
    paths = [tmp_path / unit.path for unit in small.units("smoke")]
    before = [p.stat().st_mtime_ns for p in paths]
    original = job.evaluate

    def stop(family, **options):
        if (family, options["methods"]) == ("goldstein-price", ["ei"]):
            raise KeyboardInterrupt
        return original(family, **options)

    with monkeypatch.context() as patch:
        patch.setattr(job, "evaluate", stop)
        assert metabo(*reported, "--force")[0] == 130
    stopped = [p.stat().st_mtime_ns for p in paths]
    assert [a != b for a, b in zip(stopped, before, strict=True)] == [True] * 4 + [False] * 5
    assert metabo(*reported, "--force")[0] == 0
    after = [p.stat().st_mtime_ns for p in paths]
    assert after[:4] == stopped[:4]
    assert all(a > b for a, b in zip(after[4:], stopped[4:], strict=True))
    assert metabo(*reported, "--force")[0] == 0
    assert all(a < p.stat().st_mtime_ns for a, p in zip(after, paths, strict=True))


def test_a_unit_that_cannot_run_ends_the_report_with_1(metabo, small, tmp_path, monkeypatch):
    one = replace(small, families=("rhino-1",))
    monkeypatch.setattr(catalogue, "experiment", lambda _: one)
    arguments = ("report", "small", "--scale", "smoke", "--out", tmp_path)
    code, out, err = metabo(*arguments, "--rerun")
    assert code == 1
    assert "metabo-50 cannot run: There is no artifact" in " ".join(err.split())
    assert "rhino-1: median simple regret" in " ".join(out.split())
    assert "1 of 3 results are missing" in out


def test_report_names_what_it_does_not_know(metabo, tmp_path):
    code, _, err = metabo("report", "figure-3", "--out", tmp_path)
    assert code == 2
    assert "Unknown experiment `figure-3`" in err
    code, _, err = metabo("report", "--scale", "huge", "--out", tmp_path)
    assert code == 2
    assert "`--scale` must be `smoke` or `full`, but got `huge`." in err


def special(folder):
    """Paths by kind, none of which is a plain file or a folder."""
    os.mkfifo(folder / "fifo")
    (folder / "dangling").symlink_to("nothing")
    (folder / "loop").symlink_to("loop")
    found = {name: str(folder / name) for name in ("fifo", "dangling", "loop")}
    return found | {"device": "/dev/zero", "long": "n" * 5000}


@pytest.mark.parametrize("kind", ["fifo", "dangling", "loop", "device", "long"])
@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("init", "run.jsonl", "--budget", "3", "--space", "PATH"), "The `--space` file"),
        (("evaluate", "branin", "--task-file", "PATH"), "The task file"),
        (("evaluate", "table:PATH"), "The table folder"),
        (("train", "table:PATH"), "The table folder"),
        (("crossvalidate", "table:PATH"), "The table folder"),
    ],
)
def test_special_files_get_an_answer_at_once(metabo, tmp_path, kind, command, what):
    path = special(tmp_path)[kind]
    code, out, err = metabo(*(word.replace("PATH", path) for word in command))
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {what} `")
    assert " cannot be read: " in err
    assert err.count("\n") == 1
    assert len(err) < 500


def test_an_argument_is_named_as_it_was_typed(metabo):
    _, _, err = metabo("evaluate", "branin", "--budget", "99999999999999999999")
    assert err.startswith("Error: `--budget` must be a whole number in 1..10000, but got `9999999")
    _, _, err = metabo("train", "branin:sources=0")
    assert err.startswith("Error: `sources` must be a whole number in 1..1000000, but got 0")
    typed = ["train", "--task-file=x"]
    assert in_shell_words("`task_file` must hold", typed) == "`--task-file` must hold"
    assert in_shell_words("`budget` must be", typed) == "`budget` must be"
