"""The benchmarks run, and what the docs claim of the searchers holds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import metabo
from metabo.policies import searcher

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


SMOKE = """
import contextlib, io, json, runpy, sys
folder, *names = sys.argv[1:]
for name in names:
    sys.argv, output = [name, "--smoke"], io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            runpy.run_path(f"{folder}/{name}.py", run_name="__main__")
        except SystemExit as end:
            assert not end.code, name
    print(json.dumps([name, output.getvalue()]))
"""
"""Several benchmarks in one interpreter, which takes seconds to start."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        "ask_latency grid_misses inputs_fuzz search_quality same_scores transfer furuta_setting",
        "episodes grown_factor long_regret published_curves search_ablation transfer_variants",
        "faults gp_maxima long_runs published_taf trained_quality furuta",
        "general hyperpriors measure_tables rhino_hits training_speed furuta_machines",
    ],
    ids=lambda names: names.split()[0],
)
def test_they_run_and_print_json_lines(names):
    command = [sys.executable, "-c", SMOKE, BENCHMARKS, *names.split()]
    environment = os.environ | {"PYTHONPATH": f"{BENCHMARKS}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    outputs = dict(json.loads(line) for line in done.stdout.splitlines())
    assert list(outputs) == names.split()
    for name, output in outputs.items():
        lines = [json.loads(line) for line in output.splitlines()]
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
        rows.append(compare(name, 6, 1, searches))
    rows = torch.cat(rows)
    rows = rows[rows[:, 1:3].amax(-1) >= 1e-12]
    assert len(rows) >= 500
    assert (rows[:, 2] >= (1 - 1e-6) * rows[:, 1]).double().mean() >= 0.95
    assert (rows[:, 4] <= rows[:, 3] / 5).all()
