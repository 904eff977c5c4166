"""EI with the grid search reproduces the published program's curves on its own test functions."""

from pathlib import Path

import pytest
import torch

import metabo

# Median regret at t = 5 and 20, and the 30 % and 70 % percentiles at t = 10 and 30, of the
# published program.
CURVES = {
    "branin": ((0.198, 5.5e-4), (0.029, 0.086), (4.8e-6, 2.0e-5)),
    "goldstein-price": ((1.24, 0.247), (0.92, 1.03), (0.036, 0.39)),
    "hartmann-3": ((3.30, 0.015), (0.40, 0.93), (1.7e-3, 6.9e-3)),
}
TASKS = Path(__file__).parents[1] / "examples" / "published-tasks"


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", CURVES)
def test_ei_follows_the_published_curve(name):
    # Ties are broken at random, in the published program too, and on Goldstein-Price the median
    # falls by a factor of six between t = 15 and 20: where it stands at t = 20 is a matter of
    # luck. Three seeds are pooled.
    runs = [
        metabo.evaluate(
            name, methods=["ei"], search="grid", task_file=TASKS / f"{name}.json", seed=seed
        )
        for seed in range(3)
    ]
    regret = torch.cat([run.methods["ei"].regret for run in runs])
    at_5, at_10, at_20, at_30 = regret.median(0).values[[4, 9, 19, 29]].tolist()
    medians, band_10, band_30 = CURVES[name]
    for ours, published in zip((at_5, at_20), medians, strict=True):
        assert published / 1.5 <= ours <= published * 1.5
    assert band_10[0] <= at_10 <= band_10[1]
    assert band_30[0] <= at_30 <= band_30[1]
