import json
import os
import pickle
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import metabo
from metabo.pretrained import load
from metabo.training import TrainingInterrupted
from metabo.training.interrupt import farewell, noticed_interrupts

TINY = {
    "prior": "plain",
    "hidden": (4,),
    "episodes": 4,
    "iterations": 4,
    "budget": 2,
    "n_global": 20,
}
TINY |= {"minibatches": 2, "validation_tasks": 2, "validate_every": 2, "checkpoint_every": 99}
TINY |= {"preset": "fast"}


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def same(a, b):
    a, b = load_file(a), load_file(b)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 3, 4])
def test_an_interrupted_run_is_saved_and_ends_with_the_same_bits(tmp_path, at):
    seen = []

    def on_event(event):
        seen.append(event.iteration)
        if event.iteration == at:
            interrupt()

    with pytest.raises(TrainingInterrupted, match=f"after iteration {at} of 4; everything is"):
        metabo.train("branin", out=tmp_path / "parts", on_event=on_event, **TINY)
    assert seen == list(range(1, at + 1))
    assert not (tmp_path / "parts" / "af.safetensors").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    metabo.train("branin", out=tmp_path / "parts", resume=True, **TINY)
    metabo.train("branin", out=tmp_path / "whole", **TINY)
    for name in ("checkpoint.safetensors", "af.safetensors"):
        assert same(tmp_path / "parts" / name, tmp_path / "whole" / name)


def test_the_second_interrupt_stops_at_once_and_the_last_checkpoint_is_there(tmp_path):
    def on_event(event):
        if event.iteration == 3:
            interrupt()
            interrupt()

    with pytest.raises(KeyboardInterrupt) as stopped:
        metabo.train(
            "branin", out=tmp_path / "parts", on_event=on_event, **TINY | {"checkpoint_every": 2}
        )
    assert not isinstance(stopped.value, TrainingInterrupted)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    seen = []
    metabo.train(
        "branin",
        out=tmp_path / "parts",
        resume=True,
        on_event=lambda event: seen.append(event.iteration),
        **TINY | {"checkpoint_every": 2},
    )
    assert seen == [3, 4]


@pytest.mark.slow
def test_an_interrupted_team_goes_on_and_ends_with_the_same_weights(tmp_path):
    def on_event(event):
        if event.iteration == 6:  # the second iteration of the second member
            interrupt()

    settings = TINY | {"members": 2}
    with pytest.raises(TrainingInterrupted, match="after iteration 6 of 8") as stopped:
        metabo.train("branin", out=tmp_path / "parts", on_event=on_event, **settings)
    assert stopped.value.out == tmp_path / "parts"
    parts = metabo.train("branin", out=tmp_path / "parts", resume=True, **settings)
    whole = metabo.train("branin", out=tmp_path / "whole", **settings)
    for a, b in zip(load(parts).parameters(), load(whole).parameters(), strict=True):
        assert torch.equal(a, b)


def test_only_the_main_thread_and_pythons_own_handler_give_way():
    with noticed_interrupts() as outer:
        ours = signal.getsignal(signal.SIGINT)
        with noticed_interrupts() as inner:  # somebody else's handler stays
            assert signal.getsignal(signal.SIGINT) is ours
            interrupt()
            assert outer()
            assert not inner()
    seen = []

    def elsewhere():
        with noticed_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_an_interrupt_can_be_sent_to_another_process():
    there = pickle.loads(pickle.dumps(TrainingInterrupted(Path("runs/x"), 3, 9)))
    assert str(there) == str(TrainingInterrupted(Path("runs/x"), 3, 9))
    assert "Continue with the same call and `resume=True`" in str(there)


def test_the_command_to_go_on_is_the_one_given():
    stopped = TrainingInterrupted(Path("runs/x"), 37, 500)
    words = ["train", "branin", "--out", "my runs/x", "--set", "hidden=8,8", "--resume"]
    assert farewell(stopped, "metabo", words, is_begun=True) == (
        "Interrupted after iteration 37 of 500; everything is saved. Continue with: "
        "metabo train branin --out 'my runs/x' --set hidden=8,8 --resume"
    )
    assert farewell(KeyboardInterrupt(), "metabo", words[:2], is_begun=False) == (
        "Interrupted. Continue with: metabo train branin"
    )


@pytest.mark.slow
def test_from_the_shell_the_command_that_is_printed_goes_on(tmp_path):
    settings = {k: v for k, v in TINY.items() if k not in ("preset", "iterations", "hidden")}
    words = ["branin", "--preset", "fast", "--iterations", "30", "--out", str(tmp_path / "a b")]
    words += ["--set", "hidden=4"]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "metabo.training", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()  # the first validation is done
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    last = errors.splitlines()[-1]
    assert last.startswith("Interrupted after iteration ")
    python, *command = shlex.split(last.partition("Continue with: ")[2])
    assert (python, command) == ("python", ["-m", "metabo.training", *words, "--resume"])
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    lines = (tmp_path / "a b" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == list(range(1, 31))
