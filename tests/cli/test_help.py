import re

import pytest
import typer

from metabo.cli import app
from metabo.evaluation.crossvalidate import METHODS
from metabo.paper import STUDY_RUNS

COMMANDS = typer.main.get_command(app).commands


def parameters():
    for name, command in COMMANDS.items():
        for parameter in command.params:
            yield pytest.param(parameter, id=f"{name} {parameter.opts[0]}")


@pytest.mark.parametrize("parameter", list(parameters()))
def test_every_help_text_stands_alone(parameter):
    """Complete sentences or noun phrases, not fragments such as "Of weights and tasks."."""
    assert re.fullmatch(r"[A-Z].*\.", parameter.help)
    assert not re.match(r"(Of|Or|And|As|Such|With|Instead|Likewise) ", parameter.help)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_in_one_line_what_it_does(name):
    first = COMMANDS[name].help.splitlines()[0]
    assert re.fullmatch(r"[A-Z].*\.", first)
    assert len(first) <= 90


def test_defaults_that_are_written_out_are_those_in_use():
    assert COMMANDS["crossvalidate"].params[2].show_default == ", ".join(METHODS)
    assert {p.name: p.default for p in COMMANDS["report"].params}["artifacts"] == STUDY_RUNS


def test_the_first_screen_says_what_to_type(metabo):
    code, out, _ = metabo("--help")
    assert code == 0
    assert metabo() == (0, out, "")
    for name in COMMANDS:
        assert re.search(rf"^\W*{name}\b", out, re.M)
    examples = re.findall(r"^\s*metabo (\S+)", out, re.M)
    assert len(examples) >= 3
    assert set(examples) <= set(COMMANDS)


@pytest.mark.parametrize(
    ("command", "option", "choices"),
    [
        ("evaluate", "--search", "gradient|grid|sobol"),
        ("evaluate", "--hyperparameters", "known|fitted"),
        ("explain", "--search", "gradient|grid|sobol"),
        ("train", "--preset", "default|paper|fast|table|general"),
        ("report", "--scale", "smoke|full"),
        ("init", "--direction", "minimize|maximize"),
        ("init", "--prior", "artifact|fitted"),
        ("init", "--candidates", "table|space"),
        ("train", "--device", "cpu|cuda|cuda:N"),
    ],
)
def test_choices_are_listed(metabo, monkeypatch, command, option, choices):
    monkeypatch.setenv("COLUMNS", "200")
    out = metabo(command, "--help")[1]
    assert re.search(rf"{option}\s+<?{re.escape(choices)}\b", out)


@pytest.mark.parametrize("words", [(), ("ask",), ("report",)])
def test_flags_take_no_value(metabo, words):
    assert "bool" not in metabo(*words, "--help")[1]


def test_choices_are_completed(monkeypatch, capsys):
    monkeypatch.setenv("_METABO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "metabo evaluate branin --search g")
    monkeypatch.setenv("COMP_CWORD", "4")
    with pytest.raises(SystemExit):
        app(prog_name="metabo")
    assert capsys.readouterr().out.split() == ["gradient", "grid"]
