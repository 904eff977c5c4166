"""The published files themselves are not ours to ship: made-up ones of the same form stand in."""

import os
from pathlib import Path

import pytest
import torch

from metabo.errors import DataError
from metabo.tasks.tabular import read_table

PUBLISHED = Path(os.environ.get("METABO_HPO_TABLES", "/nonexistent"))
"""A folder with `svm` and `adaboost`, for those who have the published files."""


def svm_lines(shift=0.0):
    """3 x 3 RBF configurations, zeros omitted, then other kernels."""
    lines = []
    for c in (-1.0, 0.0, 1.0):
        for gamma in (-0.5, 0.0, 0.5):
            pairs = [f"{i}:{v}" for i, v in ((3, c), (4, gamma)) if v]
            lines.append(" ".join([f"{0.5 + 0.1 * c + 0.01 * gamma + shift}", "0:1.0", *pairs]))
    return "\n".join([*lines, "0.3 1:1.0 2:0.5 3:1.0", "0.2 2:1.0 3:-1.0", ""]).replace(
        " 2:0.5", ""
    )


def folder_of(path, **files):
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    return path


def test_absent_indices_are_zeros(tmp_path):
    table = read_table(folder_of(tmp_path / "svm", one=svm_lines(), wine=svm_lines(0.25)))
    assert list(table.space.parameters) == ["C", "gamma"]
    assert len(table.configurations) == 9
    at = table.configurations.index((0.0, 0.5))
    assert float(table.measured[0, at]) == pytest.approx(0.505)
    assert table.test == ("wine",)
    assert table.sources == ("one",)
    assert table.budget == 20


def test_files_for_testing_have_no_say_in_ranges(tmp_path):
    outside = svm_lines(0.25) + "0.5 0:1.0 3:1.5 4:0.5\n"
    folder = folder_of(tmp_path / "svm", one=svm_lines(), wine=outside)
    with pytest.raises(
        DataError, match=r"wine` is held out for testing and has 1.5 as parameter `C`"
    ):
        read_table(folder)


def test_test_data_sets_alone_are_learned_from(tmp_path):
    table = read_table(folder_of(tmp_path / "svm", wine=svm_lines(), letter=svm_lines(0.1)))
    assert table.test == ()


def test_the_published_program_lost_the_zeros(tmp_path):
    folder = folder_of(tmp_path / "svm", one=svm_lines())
    assert len(read_table(folder, grid="published").configurations) == 4


def test_adaboost_is_told_from_the_svm(tmp_path):
    text = "\n".join(
        f"{0.5 + i * j / 10} 0:{i / 4} 1:{j / 4}" for i in (1, 2, 4) for j in (1, 3, 4)
    )
    table = read_table(folder_of(tmp_path / "ada", one=text))
    assert list(table.space.parameters) == ["iterations", "product_terms"]
    assert table.measured.shape == (1, 9)
    assert table.budget == 15


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.5 0:1.0 3:1.0 4:x\n", r"line 1, must be a number and `index:value` pairs"),
        ("nan 0:1.0 3:1.0 4:1\n", r"line 1, must have finite numbers, but has nan"),
        (svm_lines() + "0.9 0:1.0\n", r"gives the configuration \(0.0, 0.0\) two results"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_table(folder_of(tmp_path / "svm", one=text))


@pytest.mark.skipif(not PUBLISHED.exists(), reason="METABO_HPO_TABLES names no folder")
@pytest.mark.parametrize(
    ("kind", "grid", "size"),
    [
        ("svm", "complete", 168),
        ("svm", "published", 143),
        ("adaboost", "complete", 108),
        ("adaboost", "published", 108),
    ],
)
def test_the_published_tables_have_their_sizes(kind, grid, size):
    table = read_table(PUBLISHED / kind, grid=grid)
    assert table.measured.shape == (len(list((PUBLISHED / kind).iterdir())), size)
    assert not torch.isnan(table.measured).any()
