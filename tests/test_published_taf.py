"""TAF with the published variant and sources reproduces the published program's medians.

Only the first ten steps are run here; `studies/published_taf.py` compares all thirty.
"""

import json

import pytest
import torch
from published_taf import PUBLISHED, STEPS, TASKS, bratley_fox, published_sources

import metabo
from metabo.acquisition import TAF, Experts, Ranking
from metabo.domain import sobol
from metabo.loop import rollout
from metabo.policies import Maximize, searcher


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("flavour", ["taf-me", "taf-r"])
def test_taf_follows_the_published_curve(flavour):
    family = metabo.family("branin")
    tasks = family.read(json.loads((TASKS / "branin.json").read_text()))
    weighting = Experts() if flavour == "taf-me" else Ranking(1.0, "mean", family.prior)
    taf = TAF(published_sources(family).models, weighting)
    policy = Maximize(taf, searcher("grid", family.domain))
    medians = rollout(policy, tasks, family, seed=0, budget=10).regret.quantile(0.5, 0)
    for t, published in zip(STEPS[:3], PUBLISHED["branin", flavour][:3], strict=True):
        assert medians[t - 1].item() == pytest.approx(published, rel=0.3)


def test_the_older_sobol_points_differ_from_the_third_coordinate_on():
    old, new = bratley_fox(100, 4), sobol(100, 4)
    assert torch.equal(old[:, :2], new[:, :2])
    assert not torch.equal(old[:, 2], new[:, 2])
    # Each coordinate visits every multiple of 1/64 once, as a digital sequence does.
    everything = torch.arange(1, 64).double() / 64
    assert torch.equal(old[:63].sort(0).values, everything[:, None].expand(-1, 4))
