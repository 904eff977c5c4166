"""From a folder of past results to the next proposal, as the docs tell it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import metabo
from metabo.cli import app

PAST = Path(__file__).parents[1] / "examples" / "past"


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    """An AF learned from the example for a moment only."""
    out = tmp_path_factory.mktemp("past") / "run"
    return metabo.train(
        f"table:{PAST}", out=out, iterations=3, episodes=4, minibatches=2, hidden=(8,)
    )


def test_the_example_has_gaps_a_category_and_twelve_data_sets():
    table = metabo.family(f"table:{PAST}").table
    assert len(table.datasets) == 12
    assert isinstance(table.space.parameters["weights"], metabo.Choice)
    assert 0 < table.measured.isnan().double().mean() < 0.5


def test_an_artifact_brings_space_budget_direction_and_data_along(artifact):
    card = metabo.load(artifact).card
    assert card["direction"] == "maximize"
    assert len(card["data"]["datasets"]) == 12
    optimizer = metabo.Optimizer(af=artifact)
    assert optimizer.budget == 15
    assert optimizer.direction == "maximize"
    params = optimizer.ask()
    assert list(params) == ["n_neighbors", "power", "weights"]
    assert isinstance(params["n_neighbors"], int)
    assert params["weights"] in ("uniform", "distance")
    optimizer.tell(params, 0.7)
    assert optimizer.remaining == 14
    assert set(optimizer.ask()) == set(params)


def test_the_shell_goes_from_the_folder_to_a_proposal(artifact, tmp_path):
    shell, journal = CliRunner(), str(tmp_path / "knn.jsonl")
    assert shell.invoke(app, ["init", journal, "--artifact", str(artifact)]).exit_code == 0
    asked = shell.invoke(app, ["ask", journal, "--json"])
    params = json.loads(asked.stdout)
    pairs = [f"{name}={value}" for name, value in params.items()]
    assert shell.invoke(app, ["tell", journal, *pairs, "value=0.83"]).exit_code == 0
    assert metabo.Optimizer.open(journal, read_only=True).best.value == 0.83


def test_an_artifact_that_knows_the_test_data_is_used_with_a_warning(artifact, tmp_path):
    words = [f"table:{PAST}:fold=0", "--methods", "metabo", "--artifact", str(artifact)]
    done = CliRunner().invoke(app, ["evaluate", *words, "--budget", "2", "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert "was learned from 2 of the 2 data sets kept for testing" in done.stderr
