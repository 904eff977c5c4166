import json

import pytest

from metabo.evaluation.evaluate import evaluate
from metabo.paper.catalogue import experiment
from metabo.paper.job import Job
from metabo.paper.kinds.table import KIND
from metabo.tasks import family


@pytest.mark.slow
def test_a_data_sets_regret_is_averaged_over_runs_on_that_data_set(tmp_path):
    (unit,) = (u for u in experiment("figure-4-svm").units("smoke") if u.method == "portfolio")
    record = KIND.run(Job(unit))
    tasks = tmp_path / "tasks.json"
    names = family("svm").test().test_names[: unit.tasks]
    tasks.write_text(json.dumps([{"dataset": name} for name in names]))
    # A portfolio is a list: all runs on a data set are the same.
    once = evaluate("svm", methods=["portfolio"], task_file=tasks, budget=unit.budget)
    expected = once.methods["portfolio"].regret
    assert [[float(f"{v:.5g}") for v in row] for row in expected.tolist()] == record["regret"]
