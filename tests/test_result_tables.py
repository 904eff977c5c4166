"""The tables of README and docs that come from results are what the results say."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

from metabo.paper.catalogue import EXPERIMENTS
from metabo.paper.results import Stored, stored

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("result_tables", ROOT / "docs/result_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_marked_table_is_what_the_results_say(tables):
    differing = [
        page.name
        for page in tables.PAGES
        if tables.rewritten(page.read_text()) != page.read_text()
    ]
    assert not differing, "run `python docs/result_tables.py`"


def test_a_number_that_is_not_the_results_is_put_right(tables):
    page = (ROOT / "README.md").read_text()
    table = next(tables.TABLE.finditer(page))[2]
    wrong = re.sub(r"\d\.\de", "9.9e", table)
    assert wrong != table
    assert tables.rewritten(page.replace(table, wrong)) == page


def test_a_number_in_a_sentence_is_put_right_too(tables):
    text = "needs <!-- number: catches figure-2 branin ei ei 10 -->99<!-- --> steps"
    assert tables.rewritten(text).endswith("-->10<!-- --> steps")


def test_no_comment_opens_a_line_of_a_sentence(tables):
    """Markdown would take the rest of the line for HTML."""
    for page in tables.PAGES:
        assert not re.search(r"^\s*<!-- number:", page.read_text(), re.MULTILINE)


def test_steps_are_written_as_ranges(tables):
    assert tables._ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"
    assert tables._ranges([]) == "never"


def test_numbers_are_those_stored(tables):
    unit = next(u for u in EXPERIMENTS["figure-2-gradient"].units("full") if u.method == "random")
    median = stored(unit, ROOT / "results")["result"]["median"]
    rows = tables.summary(["figure-2-gradient"], {"t": "5,30", "methods": "random"}).texts
    assert rows[0][:2] == ("`random`", f"{median[4]:.1e}, {median[29]:.1e}")


def test_what_is_not_stored_is_a_dash(tables, monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    for view, name in (("seconds", "run-time"), ("tuning", "tuning"), ("summary", "figure-2")):
        rows = tables.VIEWS[view]([name], {"t": "1"}).texts
        assert {cell for row in rows for cell in row[1:]} & {"-"}
    rows = tables.medians(["figure-2"], {"t": "1"}).texts
    assert {row[1] for row in rows} == {"-"}
    rows = tables.places(["standard-functions"], {"t": "1,2", "methods": "ei,random"}).texts
    assert rows == (("ei", "-", "-"), ("random", "-", "-"))
    rows = tables.folds(["published-svm"], {"t": "1", "methods": "ei"}).texts
    assert rows == (("ei", "-", "-"),)


def test_places_are_means_over_families_and_tasks(tables, monkeypatch):
    regret = {"ei": [[1.0], [2.0]], "pi": [[1.0], [1.0]], "ucb": [[3.0], [0.0]]}
    records = {("f", m): {"result": {"regret": r}} for m, r in regret.items()}
    one = replace(EXPERIMENTS["figure-2"], families=("f",))
    monkeypatch.setattr(tables, "_stored", lambda names: Stored(one, "full", records))
    rows = tables.places(["x"], {"t": "1", "methods": "ei,pi,ucb"}).texts
    assert rows == (("ei", "2.25"), ("pi", "1.75"), ("ucb", "2.00"))


def test_the_pages_with_results_are_marked(tables):
    marked = {page.name: len(tables.TABLE.findall(page.read_text())) for page in tables.PAGES}
    assert marked["README.md"] >= 1
    assert marked["baselines.md"] >= 4
