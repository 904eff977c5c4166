"""EI with the grid search reproduces the published program's curves on its own test functions.

`studies/published_curves.py` compares on all 100 functions per family, with many seeds.
"""

import json
from pathlib import Path

import pytest

import metabo

# Median regret at t = 5 and 20, and the 30 % and 70 % percentiles at t = 10 and 30, of the
# published program.
CURVES = {
    "branin": ((0.198, 5.5e-4), (0.029, 0.086), (4.8e-6, 2.0e-5)),
    "goldstein-price": ((1.24, 0.247), (0.92, 1.03), (0.036, 0.39)),
    "hartmann-3": ((3.30, 0.015), (0.40, 0.93), (1.7e-3, 6.9e-3)),
}
FUNCTIONS = 40
"""The median of 40 of 100 functions lies between the 30 % and 70 % percentiles of all in 99.9 % of
draws: its rank has a standard deviation of 6 %."""
FACTORS = {"branin": (1.5, 2), "goldstein-price": (1.5, 4.2), "hartmann-3": (1.5, 12)}
"""Largest ratio of medians at t = 5 and 20 in 99 % of 4000 draws of 40 of the 100 functions.

Around t = 20 the medians on Goldstein-Price and Hartmann-3 fall by a factor of ten in few steps.
"""
TASKS = Path(__file__).parents[1] / "examples" / "published-tasks"


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", CURVES)
def test_ei_follows_the_published_curve(name, tmp_path):
    tasks = json.loads((TASKS / f"{name}.json").read_text())[:FUNCTIONS]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    run = metabo.evaluate(name, methods=["ei"], search="grid", task_file=tmp_path / "tasks.json")
    medians = run.methods["ei"].regret.quantile(0.5, 0)
    at_5, at_10, at_20, at_30 = medians[[4, 9, 19, 29]].tolist()
    published, band_10, band_30 = CURVES[name]
    for ours, median, factor in zip((at_5, at_20), published, FACTORS[name], strict=True):
        assert median / factor <= ours <= median * factor
    assert band_10[0] <= at_10 <= band_10[1]
    assert band_30[0] <= at_30 <= band_30[1]
