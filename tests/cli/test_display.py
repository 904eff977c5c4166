import io

import pytest
import torch
from rich.console import Console

from metabo.cli.display import means
from metabo.evaluation.table_summary import marks, table_record, table_rows

METHODS = ("metabo", "ei", "taf-me", "portfolio", "random")


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_no_number_is_broken_however_narrow_the_terminal(width, rng):
    regret = torch.rand(2, 9, 20, generator=rng, dtype=torch.float64)
    records = {name: table_record(regret * (i + 1)) for i, name in enumerate(METHODS)}
    shown = Console(file=io.StringIO(), width=width)
    shown.print(means("a title of some length", records, 20, width=width))
    text = shown.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for name, *cells in table_rows(records, METHODS, marks(20)):
        assert f" {name} " in text
        for cell in cells:
            assert all(part in text for part in cell.split(" "))
    n_tables = text.count("method")
    assert n_tables == {40: 7, 80: 2, 120: 2, 200: 1}[width]
