"""The page in a real browser, which is asked through a script added to a copy of it."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from metabo.paper.catalogue import EXPERIMENTS
from metabo.paper.page import write_page
from metabo.paper.results import read

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
ROOT = Path(__file__).parents[3]
SHOWN = ("figure-2", "run-time", "figure-4-svm", "figure-3-real")
"""Experiments of four kinds; to draw all of them takes most of a minute."""
HEAD = "<script>window.failed = []; onerror = (m) => { window.failed.push(String(m)); };</script>"
ASK = """
<script>
addEventListener("load", () => {
  const column = (table, n) => [...table.tBodies[0].rows].map((r) => r.cells[n].textContent);
  const tables = [...document.querySelectorAll("table")].map((table) => {
    const head = table.tHead.rows[0].cells[1].querySelector("button");
    const before = column(table, 1);
    head.click();
    const up = column(table, 1);
    head.click();
    return [before, up, column(table, 1), head.parentNode.getAttribute("aria-sort")];
  });
  const answer = {
    failed: window.failed,
    widths: [...document.images].map((image) => image.naturalWidth),
    tables: tables,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
  const place = document.createElement("pre");
  place.id = "answer";
  place.textContent = JSON.stringify(answer);
  document.body.append(place);
});
</script>
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium: install the package `chromium`"),
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What the browser answers about a page of stored results, for a width in pixels."""
    folder = tmp_path_factory.mktemp("page")
    stored = [read(EXPERIMENTS[name], "full", ROOT / "results") for name in SHOWN]
    page = write_page(stored, folder=folder)
    text = page.read_text().replace("<head>", f"<head>{HEAD}").replace("</body>", f"{ASK}</body>")
    page.write_text(text)

    def ask(width=1200):
        done = subprocess.run(
            [
                BROWSER,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
                f"--user-data-dir={folder / 'profile'}",
                f"--window-size={width},900",
                "--virtual-time-budget=5000",
                "--dump-dom",
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        found = re.search(r"<pre id=\"answer\">(.*?)</pre>", done.stdout, re.DOTALL)
        assert found, done.stderr[-2000:]
        return json.loads(unescape(found[1])), done.stderr

    return ask


@pytest.fixture(scope="module")
def answer(asked):
    return asked()


def test_it_loads_without_errors(answer):
    told, log = answer
    assert told["failed"] == []
    assert [line for line in log.splitlines() if "CONSOLE" in line] == []


def test_every_picture_shows(answer):
    widths = answer[0]["widths"]
    assert len(widths) == len(SHOWN)
    assert min(widths) > 300


def test_tables_sort_on_a_click_and_the_other_way_round_on_a_second(answer):
    n_changed = 0
    for before, up, down, state in answer[0]["tables"]:
        assert state == "descending"
        assert sorted(before) == sorted(up) == sorted(down)
        numbers = [float(m[0]) for t in up if (m := re.match(r"-?\d+(\.\d+)?(e[+-]\d+)?", t))]
        assert numbers == sorted(numbers)
        n_changed += up != before or down != before
    assert n_changed > 3


def test_a_phone_shows_it_without_scrolling_sideways(asked):
    assert asked(width=500)[0]["overflow"] <= 0
