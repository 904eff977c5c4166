import re
from html.parser import HTMLParser

import pytest

from metabo.evaluation.table import Column, Table
from metabo.paper.catalogue import Experiment, Scale
from metabo.paper.claims import CLAIMS
from metabo.paper.page import write_page
from metabo.paper.render import html
from metabo.paper.results import read
from metabo.paper.runner import run
from metabo.paper.sections import Section, section

SMALL = Experiment(
    "small",
    "A <small> & quick test",
    "regret",
    ("ei", "random", "metabo-50"),
    {"smoke": Scale(3, 2)},
    ("rhino-1",),
)
NEVER = Experiment("never", "Never run", "regret", ("ei",), {"smoke": Scale(9, 9)}, ("branin",))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    assert [unit.method for unit, _ in run(SMALL.units("smoke"), folder)] == ["metabo-50"]
    return folder


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    stored = [read(one, "smoke", results) for one in (SMALL, NEVER)]
    return write_page(stored, results=results, folder=folder)


class Balanced(HTMLParser):
    """Fails unless every tag is closed in turn."""

    VOID = ("meta", "link", "img")

    def __init__(self):
        super().__init__()
        self.open, self.ids = [], []

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_asks_for_nothing(page):
    text = page.read_text()
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert set(re.findall(r"href='#([\w-]+)'", text)) <= set(parser.ids)
    assert not re.search(r"(src|href)=['\"](?!data:|#)", text)
    assert "A &lt;small&gt; &amp; quick test" in text


def test_pictures_stand_beside_it_too(page):
    names = {path.name for path in page.parent.iterdir()}
    assert names == {"report.html", "small.png", "small.svg"}
    assert page.read_text().count("<img ") == 1


def test_what_was_not_run_is_listed_with_its_command(page):
    text = page.read_text()
    missing = text.split("id='missing'")[1].split("<section")[0]
    assert "rhino-1: metabo-50" in missing
    assert "1 of 3" in missing
    assert "metabo report never --scale smoke --out" in missing
    assert "Not run: nothing is stored." in text


def test_intervals_hold_the_median_and_facts_say_where_numbers_are_from(results):
    one = section(read(SMALL, "smoke", results), results)
    (table,) = one.tables
    for row in table.texts[:2]:
        for cell in row[1:]:
            median, low, high = map(float, re.findall(r"[\d.e+-]+", cell))
            assert low <= median <= high
    assert table.heads == ("method", "t=1", "t=2")
    assert table.texts[2][1:] == ("-", "-")
    facts = dict(one.facts)
    assert facts["tasks"] == "3"
    assert facts["seed"] == "0"
    assert "cores" in facts["device"]


def test_claims_of_experiments_that_are_not_shown_are_left_out_and_counted(page):
    text = page.read_text()
    assert f"{len(CLAIMS)} claims that rest on" in text
    assert "<table class='claims'>" not in text


def test_what_the_page_shows_of_names_and_numbers_is_escaped():
    table = Table.of(
        "a < b", [Column("<x>"), Column("'y'", "text")], [("<1", "a & 'b'")], ["c > d"]
    )
    shown = Section("n", "t", "p", "c", (table,), (("k", "<v>"),), (), 1, "cmd")
    text = html.page("<t>", [shown], [], {})
    assert not re.search("<x>|<v>|<t>|<1|a < b|c > d|a & ", text.split("<body>")[1])
    assert "a &amp; &#39;b&#39;" in text
