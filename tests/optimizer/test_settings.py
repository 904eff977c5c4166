"""The options of a run: declared once, checked, written, read and compared."""

import inspect
import json
import shutil
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import get_type_hints

import pytest

from metabo import Float, Optimizer, Space
from metabo.errors import DataError, OptionError
from metabo.gp import Prior
from metabo.optimizer import Difference, Run, RunOptions, RunSettings
from metabo.optimizer.setup import setup

JOURNALS = Path(__file__).parent / "journals"
"""Written by the version before `RunSettings`; that of format 1 is older than `candidates`."""
PRIOR = Prior.of([0.3, 0.2], signal_variance=1.0, noise_variance=1e-6)
COMPLETE = RunSettings(
    budget=9, af="ei", direction="maximize", seed=5, prior=PRIOR, search="grid", candidates="space"
)
OTHER = {
    "budget": 10,
    "af": "ucb:beta=2",
    "direction": "minimize",
    "seed": 6,
    "prior": "fitted",
    "search": "sobol",
    "candidates": "table",
}


def test_type_checkers_know_the_same_options():
    assert get_type_hints(RunOptions) == get_type_hints(RunSettings)


def test_every_field_has_a_rule():
    assert all(one.metadata["rule"].form for one in fields(RunSettings))


def test_every_option_is_a_keyword_of_the_optimizer_that_help_shows():
    shown = inspect.signature(Optimizer).parameters
    for one in fields(RunSettings):
        assert shown[one.name].default == one.default
        assert shown[one.name].kind == inspect.Parameter.KEYWORD_ONLY


def test_settings_are_frozen():
    with pytest.raises(FrozenInstanceError, match="seed"):
        COMPLETE.seed = 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, r"`budget` must be a whole number in 1\.\.10000, but got 0"),
        ({"af": 3}, "`af` must be a name, a file, an acquisition function or a policy, but got 3"),
        ({"direction": "minimise"}, r"Unknown direction `minimise`. Did you mean `minimize`\?"),
        ({"seed": None}, "`seed` must be a whole number in .*, but got None"),
        ({"prior": "fited"}, r"Unknown prior `fited`. Did you mean `fitted`\?"),
        ({"prior": 3}, "`prior` must be `artifact` or `fitted` or a `Prior`, but got 3"),
        ({"search": 1}, "`search` must be `gradient`, `grid` or `sobol`, but got 1"),
        ({"candidates": "tabel"}, r"Unknown candidates `tabel`. Did you mean `table`\?"),
    ],
)
def test_an_option_that_breaks_its_rule_is_refused(options, message, unchecked):
    with pytest.raises(OptionError, match=message):
        RunSettings(**options)


def test_settings_that_leave_all_open_survive_json():
    again = RunSettings.from_json(json.loads(json.dumps(RunSettings().to_json())))
    assert RunSettings().difference(again) is None
    assert all(getattr(again, one.name) == one.default for one in fields(RunSettings))


def test_a_keyword_that_is_no_option_is_refused_by_the_name_that_was_called(unchecked):
    with pytest.raises(TypeError, match=r"argument of `Optimizer` `buget`. Did you mean `budget`"):
        Optimizer({"x": Float(0, 1)}, buget=3)  # type: ignore[call-arg]
    with pytest.raises(OptionError, match=r"`settings` must be a `RunSettings`"):
        Optimizer({"x": Float(0, 1)}, settings={"af": "ei"})


@pytest.mark.parametrize("prior", [PRIOR, "fitted", "artifact", None])
def test_settings_survive_json(prior):
    settings = replace(COMPLETE, prior=prior)
    record = json.loads(json.dumps(settings.to_json()))
    again = RunSettings.from_json(record)
    assert again.to_json() == record
    assert again.difference(settings) is None
    assert settings.difference(record) is None


@pytest.mark.parametrize("name", [one.name for one in fields(RunSettings)])
def test_a_difference_names_the_field_and_whose_is_which(name):
    other = replace(COMPLETE, **{name: OTHER[name]})
    found, mirrored = COMPLETE.difference(other), other.difference(COMPLETE.to_json())
    assert found.name == mirrored.name == name
    assert (found.own, found.other) == (mirrored.other, mirrored.own)
    assert str(OTHER[name]) in found.other


def test_words_are_marked_and_numbers_are_not():
    assert COMPLETE.difference(replace(COMPLETE, seed=6)) == Difference("seed", "5", "6")
    other = replace(COMPLETE, af="pi")
    assert COMPLETE.difference(other) == Difference("af", "`ei`", "`pi`")


@pytest.mark.parametrize("name", [one.name for one in fields(RunSettings)])
def test_a_record_with_a_wrong_option_is_refused(name):
    with pytest.raises(DataError, match=f"`{name}` must be .*, but is"):
        RunSettings.from_json(COMPLETE.to_json() | {name: ["?"]})


FIRST = ("budget", "af", "direction", "seed", "prior", "search")
"""The options of the first version, which every journal has."""


@pytest.mark.parametrize("name", FIRST)
def test_a_record_without_an_option_that_every_journal_has_is_refused(name):
    record = {key: value for key, value in COMPLETE.to_json().items() if key != name}
    with pytest.raises(DataError, match=f"`{name}` is missing"):
        RunSettings.from_json(record)


def test_a_record_of_the_first_version_is_read_as_runs_were_then():
    record = {key: value for key, value in COMPLETE.to_json().items() if key in FIRST}
    assert RunSettings.from_json(record).candidates == "space"


def test_setting_up_a_run_chooses_what_is_left_open():
    made = setup({"x": Float(0.0, 1.0)}, RunSettings(budget=3, af="ei"))
    chosen = made.settings
    assert (chosen.direction, chosen.prior, chosen.candidates) == ("minimize", "fitted", "space")
    again = setup(made.space, chosen)
    assert again.settings.difference(chosen) is None


def test_one_object_and_keywords_begin_the_same_run():
    space = Space.cube(2)
    by_object = Optimizer(space, settings=RunSettings(budget=5, af="random", seed=2))
    by_keywords = Optimizer(space, budget=5, af="random", seed=2)
    assert by_object.settings == by_keywords.settings
    assert by_object.ask() == by_keywords.ask()
    mixed = Optimizer(space, settings=RunSettings(budget=5, af="random"), seed=2)
    assert mixed.settings == by_keywords.settings


@pytest.mark.parametrize("name", ["format-1", "format-2"])
def test_journals_of_earlier_versions_open_with_their_settings(tmp_path, name):
    path = Path(shutil.copy(JOURNALS / f"{name}.jsonl", tmp_path))
    with Optimizer.open(path) as optimizer:
        assert optimizer.settings["af"] == {"kind": "method", "name": "ucb:beta=2"}
        assert optimizer.settings["prior"]["noise_variance"] == [1e-6]
        assert (optimizer.direction, optimizer.seed) == ("maximize", 5)
        assert optimizer.settings["search"] == "sobol"
        assert optimizer.settings["candidates"] == "space"
        assert optimizer.history[0].value == 1.25
        expected = (9, 2, 0) if name == "format-1" else (12, 1, 1)
        found = (optimizer.budget, optimizer.n_told, len(optimizer.pending))
        assert found == expected
        assert set(optimizer.ask()) == {"rate", "n", "kind"}
    assert Run.open(path).direction == "maximize"


def test_a_journal_with_other_settings_says_whose_is_which(tmp_path):
    path = tmp_path / "run.jsonl"
    Optimizer({"x": Float(0.0, 1.0)}, budget=20, af="random", journal=path).close()
    message = r"^The journal `.*run.jsonl` was started with `budget` 20, but 30 was given\. Give"
    with pytest.raises(OptionError, match=message):
        Optimizer({"x": Float(0.0, 1.0)}, budget=30, af="random", journal=path)
