"""From a folder of past results to the next proposal, as the docs tell it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import metabo
from metabo.cli import app
from metabo.errors import DataError, MetaBOError, OptionError
from metabo.explain import explain_run
from metabo.loop import rollout
from metabo.policies import Maximize, searcher

pytestmark = pytest.mark.slow  # whole runs, which need no checks of shapes

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


def in_table(params):
    names = list(params)
    table = metabo.family(f"table:{PAST}").table
    return tuple(params[name] for name in names) in table.configurations


def test_by_default_the_tables_own_configurations_are_proposed_each_once(artifact):
    table = metabo.family(f"table:{PAST}").table
    assert metabo.load(artifact).card["configurations"] == [list(c) for c in table.configurations]
    n = len(table.configurations)
    optimizer = metabo.Optimizer(af=artifact, budget=n + 5)
    asked = []
    for number in range(n):
        params = optimizer.ask()
        assert params == optimizer.ask()
        optimizer.tell(params, 0.5 + 0.01 * (number % 7))
        asked.append(tuple(params.values()))
    assert sorted(asked) == sorted(table.configurations)  # to the last digit, all of them once
    with pytest.raises(MetaBOError, match=rf"All {n} configurations of the table are evaluated"):
        optimizer.ask()


def test_ask_and_tell_repeat_the_rollout_on_a_table(artifact):
    family = metabo.family(f"table:{PAST}")
    tasks = family.read([{"dataset": "problem-03"}])
    af = metabo.load(artifact)
    policy = Maximize(af, searcher("gradient", family.domain, repeats=False))
    run = rollout(policy, tasks, family, seed=3, prior=af.prior)
    optimizer = metabo.Optimizer(af=artifact, seed=3)
    for x in run.queries[0]:
        optimizer.tell(optimizer.ask(), float(tasks(x[None, None])))
        assert optimizer.history[-1].x == tuple(x.tolist())


def test_points_under_way_and_others_than_the_tables_count(artifact):
    optimizer = metabo.Optimizer(af=artifact)
    between = {"n_neighbors": 3, "power": 1.7321, "weights": "uniform"}
    assert not in_table(between)
    optimizer.tell(between, 0.9)
    batch = optimizer.ask_batch(5)
    assert all(map(in_table, batch))
    assert len({tuple(one.values()) for one in batch}) == 5
    assert optimizer.ask(pending=batch) not in batch


def test_a_search_between_the_configurations_has_to_be_asked_for(artifact, unchecked):
    free = metabo.Optimizer(af=artifact, candidates="space")
    assert free.configurations is None
    for value in (0.7, 0.8, 0.75):
        free.tell(free.ask(), value)
    assert not all(in_table(one.params) for one in free.history)
    with pytest.raises(OptionError, match=r"Unknown candidates `tabel`. Did you mean `table`"):
        metabo.Optimizer(af=artifact, candidates="tabel")
    with pytest.raises(OptionError, match=r"`candidates='table'` needs an artifact whose card"):
        metabo.Optimizer(af="branin", candidates="table")


def test_the_users_space_must_be_the_artifacts_whatever_is_proposed(artifact):
    space = dict(metabo.load(artifact).space.parameters)
    backwards = dict(reversed(space.items()))
    assert in_table(metabo.Optimizer(backwards, af=artifact).ask())
    space["power"] = metabo.Float(1, 9)
    with pytest.raises(
        OptionError, match=r"differs from that of the artifact `af`: parameter `po"
    ):
        metabo.Optimizer(space, af=artifact)


def test_a_run_of_before_goes_on_in_the_whole_space(artifact, tmp_path):
    path = tmp_path / "run.jsonl"
    metabo.Optimizer(af=artifact, candidates="space", journal=path).close()
    header = json.loads(path.read_text())
    assert header["candidates"] == "space"
    # As an earlier version wrote it.
    header = {k: v for k, v in header.items() if k not in ("candidates", "lines", "id", "sum")}
    path.write_text(json.dumps(header | {"metabo_journal": 1}) + "\n")
    with metabo.Optimizer.open(path) as optimizer:
        assert optimizer.configurations is None
    with pytest.raises(
        OptionError, match=r"started with `candidates` `space`, but `table` was given"
    ):
        metabo.Optimizer(af=artifact, journal=path)


def test_a_card_with_other_configurations_than_its_spaces_is_named(artifact):
    af = metabo.load(artifact)
    af.card["configurations"] = [[1, 2.0]]
    with pytest.raises(DataError, match=r"has configurations that cannot be used"):
        metabo.Optimizer(af=af)


def test_a_sampler_proposes_the_tables_configurations_too(artifact):
    optuna = pytest.importorskip("optuna", reason="optuna is not installed")
    from metabo.integrations.optuna import MetaBOSampler

    def tried(af, n_trials):
        study = optuna.create_study(sampler=MetaBOSampler(af, seed=0), direction="maximize")
        study.optimize(
            lambda trial: (
                trial.suggest_int("n_neighbors", 1, 32, log=True)
                + trial.suggest_float("power", 1.0, 3.0)
                + len(trial.suggest_categorical("weights", ["distance", "uniform"]))
            ),
            n_trials,
        )
        return [trial.params for trial in study.trials]

    proposed = tried(artifact, 4)
    assert all(map(in_table, proposed))
    assert len({tuple(one.values()) for one in proposed}) == 4
    few = metabo.load(artifact)
    few.card["configurations"] = few.card["configurations"][:2]
    *both, third = tried(few, 3)
    assert sorted([*one.values()] for one in both) == sorted(few.card["configurations"])
    assert third not in both  # nothing of the table is left, so it is drawn at random


def test_the_shell_goes_from_the_folder_to_a_proposal(artifact, tmp_path):
    shell, journal = CliRunner(), str(tmp_path / "knn.jsonl")
    assert shell.invoke(app, ["init", journal, "--artifact", str(artifact)]).exit_code == 0
    asked = shell.invoke(app, ["ask", journal, "--json"])
    params = json.loads(asked.stdout)
    assert in_table(params)
    pairs = [f"{name}={value}" for name, value in params.items()]
    assert shell.invoke(app, ["tell", journal, *pairs, "value=0.83"]).exit_code == 0
    assert metabo.Optimizer.open(journal, read_only=True).best.value == 0.83


def test_a_run_among_configurations_is_explained_among_them(artifact):
    optimizer = metabo.Optimizer(af=artifact)
    optimizer.tell(optimizer.ask(), 0.8)
    (episode,) = explain_run(artifact, optimizer).episodes
    assert episode.steps[0].ei_candidates == len(optimizer.configurations.rows)


def test_an_artifact_that_knows_the_test_data_is_used_with_a_warning(artifact, tmp_path):
    words = [f"table:{PAST}:fold=0", "--methods", "metabo", "--artifact", str(artifact)]
    done = CliRunner().invoke(app, ["evaluate", *words, "--budget", "2", "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert "was learned from 2 of the 2 data sets kept for testing" in done.stderr
