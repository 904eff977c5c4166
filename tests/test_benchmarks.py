"""The benchmarks run, and what the docs claim of the searchers holds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import metabo
from metabo.policies import searcher

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "ask_latency",
        "episodes",
        "faults",
        "general",
        "grid_misses",
        "grown_factor",
        "gp_maxima",
        "hyperpriors",
        "inputs_fuzz",
        "long_regret",
        "long_runs",
        "measure_tables",
        "search_quality",
        "published_curves",
        "published_taf",
        "rhino_hits",
        "same_scores",
        "search_ablation",
        "trained_quality",
        "training_speed",
        "transfer",
        "transfer_variants",
        "furuta",
        "furuta_machines",
        "furuta_setting",
    ],
)
def test_it_runs_and_prints_json_lines(name):
    command = [sys.executable, BENCHMARKS / f"{name}.py", "--smoke"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) >= 2
    assert {line["name"] for line in lines} == {name}
    assert all("commit" in line for line in lines)


def test_random_input_is_refused_in_a_sentence_or_keeps_the_laws(unchecked):
    from inputs_fuzz import run, summary

    outcomes = list(run(400, seed=1))
    assert [one for one in outcomes if one["failure"] is not None] == []
    assert sum(count["refused"] for count in summary(outcomes).values()) in range(100, 300)


@pytest.mark.slow
def test_recipes_are_compared_on_validation_functions():
    command = [sys.executable, BENCHMARKS / "trained_quality.py", "--smoke", "--validation"]
    done = subprocess.run([*command, "5"], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["family"] for line in lines] == ["branin", "goldstein-price"]
    assert all(len(line["of_published"]) == len(line["t"]) for line in lines)
    refused = subprocess.run([*command, "0"], capture_output=True, text=True, check=False)
    assert "--validation must be at least 1" in refused.stderr


@pytest.mark.slow
def test_the_gradient_search_finds_what_the_grid_finds_for_a_fifth_of_the_cost():
    from search_quality import compare

    rows = []
    for name in ("branin", "goldstein-price", "hartmann-3"):
        domain = metabo.family(name).domain
        searches = (searcher("grid", domain), searcher("gradient", domain))
        rows.append(compare(name, 12, 1, searches))
    rows = torch.cat(rows)
    rows = rows[rows[:, 1:3].amax(-1) >= 1e-12]
    assert len(rows) >= 1000
    assert (rows[:, 2] >= (1 - 1e-6) * rows[:, 1]).double().mean() >= 0.95
    assert (rows[:, 4] <= rows[:, 3] / 5).all()
