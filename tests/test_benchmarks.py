"""The benchmarks and studies run, and what the docs claim of the searchers holds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import metabo
from metabo.policies import searcher

ROOT = Path(__file__).parents[1]
BENCHMARKS, STUDIES = ROOT / "benchmarks", ROOT / "studies"

SMOKE = """
import contextlib, io, json, pathlib, runpy, sys
for script in map(pathlib.Path, sys.argv[1:]):
    sys.argv, output = [script.stem, "--smoke"], io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            assert not end.code, script
    print(json.dumps([script.stem, output.getvalue()]))
"""
"""Several scripts in one interpreter, which takes seconds to start."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "names"),
    [
        (
            BENCHMARKS,
            "ask_latency episodes faults furuta general inputs_fuzz learned_prior long_runs"
            " rhino_hits same_scores search_quality trained_quality training_speed transfer",
        ),
        (
            STUDIES,
            "furuta_machines furuta_setting gp_maxima grid_misses grown_factor hyperpriors"
            " long_regret measure_tables published_curves published_taf search_ablation"
            " transfer_variants",
        ),
    ],
    ids=["benchmarks", "studies"],
)
def test_they_run_and_print_json_lines(folder, names):
    scripts = [folder / f"{name}.py" for name in names.split()]
    command = [sys.executable, "-c", SMOKE, *scripts]
    environment = os.environ | {"PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}
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
def test_recipes_are_compared_on_validation_functions(monkeypatch, capsys):
    from trained_quality import main

    command = ["trained_quality", "--smoke", "--validation"]
    monkeypatch.setattr(sys, "argv", [*command, "5"])
    main()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["family"] for line in lines] == ["branin", "goldstein-price"]
    assert all(len(line["of_published"]) == len(line["t"]) for line in lines)
    monkeypatch.setattr(sys, "argv", [*command, "0"])
    with pytest.raises(SystemExit):
        main()
    assert "--validation must be at least 1" in capsys.readouterr().err


@pytest.mark.slow
def test_the_gradient_search_finds_what_the_grid_finds_for_a_fifth_of_the_cost():
    from search_quality import compare

    found = []
    for name in ("branin", "goldstein-price", "hartmann-3"):
        domain = metabo.family(name).domain
        searches = (searcher("grid", domain), searcher("gradient", domain))
        found.append(compare(name, 6, 1, searches))
    rows = torch.cat(found)
    rows = rows[rows[:, 1:3].amax(-1) >= 1e-12]
    assert len(rows) >= 500
    assert (rows[:, 2] >= (1 - 1e-6) * rows[:, 1]).double().mean() >= 0.95
    assert (rows[:, 4] <= rows[:, 3] / 5).all()
