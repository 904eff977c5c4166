import io

import pytest
import torch
from rich.console import Console

from metabo.cli.tables import print_table
from metabo.evaluation.table import Cell, Column, Table, names
from metabo.evaluation.table_summary import marks, mean_table, table_record
from metabo.paper.catalogue import EXPERIMENTS
from metabo.paper.kinds import kind_of
from metabo.paper.results import Stored

METHODS = ("metabo", "ei", "taf-me", "portfolio", "random")


def printed(table, width):
    shown = Console(file=io.StringIO(), width=width)
    print_table(table, shown)
    return shown.file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_no_number_is_broken_however_narrow_the_terminal(width, rng):
    regret = torch.rand(2, 9, 20, generator=rng, dtype=torch.float64)
    records = {name: table_record(regret * (i + 1)) for i, name in enumerate(METHODS)}
    table = mean_table("a title of some length", records, marks(20))
    text = printed(table, width)
    assert max(map(len, text.splitlines())) <= width
    for name, *cells in table.rows:
        assert f" {name} " in text
        for cell in cells:
            assert cell.text in text
            assert not cell.beside or f"({cell.beside})" in text
    n_tables = text.count("method")
    assert n_tables == {40: 7, 80: 2, 120: 2, 200: 1}[width]


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("width", [60, 80, 300])
def test_every_number_of_a_report_stands_whole_in_its_own_row(name, width):
    stored = Stored(EXPERIMENTS[name], "full", {})
    for table in kind_of(stored.experiment.kind).tables(stored):
        # A different number in every cell, of the width that numbers have.
        rows = [
            tuple(
                cell if column.kind != "number" else Cell(f"{i}.{j:02}e-{i:02}", f"9.{i}{j:02}e-1")
                for j, (cell, column) in enumerate(zip(row, table.columns, strict=True))
            )
            for i, row in enumerate(table.rows)
        ]
        text = printed(Table.of(table.title, table.columns, rows, table.notes), width)
        assert max(map(len, text.splitlines())) <= width
        for row in rows:
            for cell, column in zip(row, table.columns, strict=True):
                if column.kind == "number":
                    assert f" {cell.text} " in text
                    assert f"({cell.beside})" in text


def test_names_that_tell_rows_apart_stand_in_every_part():
    columns = [*names("family", "method"), *(Column(f"t={t}") for t in range(9))]
    rows = [(f"f{i}", f"m{i}", *["1.2345e-06"] * 9) for i in range(2)]
    text = printed(Table.of("", columns, rows), 60)
    n_parts = text.count("family")
    assert n_parts > 1
    assert text.count("f1") == text.count("m1") == n_parts


def test_words_are_wrapped_and_lose_none():
    words = " ".join(f"word{i}" for i in range(40))
    table = Table.of(
        "", [*names("name"), Column("D"), Column("what", "text")], [("a", "3", words)]
    )
    text = printed(table, 50)
    assert text.count("name") == 1
    assert all(word in text.split() for word in words.split())


def test_brackets_and_notes_are_printed_as_they_are():
    table = Table.of("[b]title[/b]", names("a"), [("[red]x",)], ["[note]"])
    text = printed(table, 40)
    assert all(part in text for part in ("[b]title[/b]", "[red]x", "[note]"))


@pytest.mark.parametrize("kind", ["name", "number", "text"])
def test_a_cell_wider_than_the_terminal_loses_nothing(kind):
    long = "".join(f"<{i:03}>" for i in range(40))
    table = Table.of("", [*names("#"), Column("x", kind), Column("y")], [("a", long, "0.5")])
    text = printed(table, 40)
    assert "0.5" in text
    assert sorted(c for c in text if c in "<>0123456789") == sorted([*long, *"05"])
