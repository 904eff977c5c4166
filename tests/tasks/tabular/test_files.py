import json
import os

import pytest
import torch

from metabo.errors import DataError, MetaBOError, OptionError, brief
from metabo.space import Choice, Float, Int
from metabo.tasks.tabular import read_table, tabular

ROWS = """dataset,lr,depth,loss,value
a,0.001,2,hinge,0.5
a,0.1,3,log,0.7
b,0.001,2,hinge,0.25
b,0.1,5,log,0.75
b,0.01,2,log,0.5
"""


def write(folder, text, name="past.csv"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_columns_become_parameters_and_rows_cells(tmp_path):
    table = read_table(write(tmp_path / "t", ROWS))
    assert table.datasets == ("a", "b")
    assert table.space.parameters == {
        "lr": Float(0.001, 0.1, log=True),
        "depth": Int(2, 5),
        "loss": Choice(("hinge", "log")),
    }
    assert len(table.configurations) == 4
    cell = {
        (d, c): float(table.measured[i, j])
        for i, d in enumerate(table.datasets)
        for j, c in enumerate(table.configurations)
    }
    assert cell["a", (0.001, 2, "hinge")] == 0.5
    assert cell["b", (0.1, 5, "log")] == 0.75
    assert table.measured.isnan().sum() == 3
    assert table.points.shape == (4, 4)  # a choice of two takes two coordinates
    assert torch.equal(table.values.nan_to_num(), table.measured.nan_to_num())


def test_files_without_a_column_of_names_are_data_sets_themselves(tmp_path):
    for name in ("iris", "wine"):
        write(tmp_path / "t", "x,value\n0,1\n0.5,2\n", f"{name}.csv")
    assert read_table(tmp_path / "t").datasets == ("iris", "wine")


def test_the_folder_can_say_what_its_columns_are(tmp_path):
    text = ROWS.replace("dataset", "study").replace("value", "error")
    folder = write(tmp_path / "t", text)
    settings = {
        "value": "error",
        "dataset": "study",
        "direction": "minimize",
        "budget": 7,
        "test": ["b"],
        "ignore": ["loss"],
        "parameters": {"lr": {"log": False}, "depth": {"type": "float", "low": 1, "high": 5}},
    }
    write(folder, json.dumps(settings), "table.json")
    table = read_table(folder)
    assert table.space.parameters == {"lr": Float(0.001, 0.1), "depth": Float(1, 5)}
    assert table.budget == 7
    assert table.sources == ("a",)
    assert float(table.of(["a"]).nan_to_num(nan=-9).amax()) == -0.5


def test_what_is_kept_for_testing_has_no_say_in_ranges_and_scales(tmp_path):
    inside = "a,1,x,1\na,50,y,2\nb,2,x,1\nb,50,y,2\n"
    folder = write(tmp_path / "t", "dataset,n,kind,value\n" + inside + "c,3,x,1\nc,4,y,2\n")
    write(folder, json.dumps({"test": ["c"]}), "table.json")
    known = {"n": Int(1, 50), "kind": Choice(("x", "y"))}
    assert read_table(folder).space.parameters == known
    for row, parameter in (("c,500,x,1", "n"), ("c,2.5,x,1", "n"), ("c,3,z,1", "kind")):
        write(folder, "dataset,n,kind,value\n" + inside + f"c,4,y,2\n{row}\n")
        with pytest.raises(DataError, match=rf"line 7, has `.*` as parameter `{parameter}`, but"):
            read_table(folder)
    write(folder, "dataset,n,kind,value\n" + inside + "c,4,y,2\nc,500,x,1\n")
    wide = {"test": ["c"], "parameters": {"n": {"high": 500}}}
    write(folder, json.dumps(wide), "table.json")
    assert read_table(folder).space.parameters["n"] == Int(1, 500, log=True)


def test_parquet_is_read_as_csv_is(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    columns = {"dataset": ["a", "a"], "x": [0.1, 0.9], "value": [1.0, 2.0]}
    (tmp_path / "p").mkdir()
    parquet.write_table(pyarrow.table(columns), tmp_path / "p" / "past.parquet")
    ours = read_table(write(tmp_path / "c", "dataset,x,value\na,0.1,1\na,0.9,2\n"))
    theirs = read_table(tmp_path / "p")
    assert ours.configurations == theirs.configurations
    assert torch.equal(ours.measured, theirs.measured)


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (
            ROWS + "a,0.001,2,hinge,0.6\n",
            {},
            r"past.csv`, line 2, and .*past.csv`, line 7, give the same configuration of data set "
            r"`a` different results, 0.5 and 0.6",
        ),
        (ROWS + "b,0.1,2,log,nan\n", {}, r"line 7, must have a finite number as `value`.*`nan`"),
        (ROWS + "b,0.1,2,log,\n", {}, r"line 7, must have a finite number as `value`"),
        (ROWS + "c,0.1,2,log,1\n", {}, r"Data set `c` must have at least two results.*has 1"),
        (ROWS + "b,0.1,2,log\n", {}, r"line 7, must have 5 cells, but has 4"),
        (
            ROWS.replace("hinge", "log"),
            {},
            r"Parameter `loss` has the value log in every row.*`?\"ignore\": \[\"loss\"\]",
        ),
        (ROWS, {"test": ["c"]}, r"Unknown test data set `c`"),
        (ROWS, {"test": ["a"], "together": [["a", "b"]]}, r"`a`, `b` belong together, but only"),
        (ROWS, {"together": ["a"]}, r"`together` in .* must be a list of lists of names"),
        (ROWS, {"together": [["a", "c"]]}, r"Unknown data set `c`"),
        (ROWS, {"value": "score"}, r"has no column `score` with the result"),
        (ROWS, {"parameters": {"rate": {}}}, r"names a parameter `rate` that is not a column"),
        (
            ROWS,
            {"parameters": {"lr": {"type": "real"}}},
            r"`type` in parameter `lr` .*`float`, `int` or `choice`",
        ),
        (
            ROWS,
            {"parameters": {"loss": {"type": "float"}}},
            r"line 2, must have a finite number as parameter `loss`, but has `hinge`",
        ),
        (ROWS.replace("0.01", "inf"), {}, r"line 6, must have a finite number as parameter `lr`"),
        (ROWS.replace("0.01", "nan"), {}, r"line 6, must have a finite number as parameter `lr`"),
        (ROWS.replace("0.01", ""), {}, r"line 6, has nothing in the column `lr`"),
        (
            ROWS.replace(",5,", ",2.5,"),
            {"parameters": {"depth": {"type": "int"}}},
            r"line 5, must have a whole number as parameter `depth`, but has `2.5`",
        ),
        (
            ROWS.replace(",5,", ",0,"),
            {"parameters": {"depth": {"log": True}}},
            r"Parameter `depth` of the table in .*`low` must be positive",
        ),
        (ROWS, {"parameters": {"lr": {"lgo": True}}}, r"parameter `lr` of .* but has `lgo`"),
        (
            ROWS,
            {"parameters": {"lr": {"low": "a"}}},
            r"`low` in parameter `lr` .* be a finite number",
        ),
        (ROWS, {"parameters": {"depth": {"low": 1.5}}}, r"of parameter `depth`.* must be whole"),
        (ROWS, {"parameters": {"lr": {"low": 0.05}}}, r"line 2, has `0.001` as parameter `lr`"),
        (ROWS, {"parameters": {"lr": {"log": "no"}}}, r"`log` in parameter `lr`.* true or false"),
        (ROWS, {"parameters": ["lr"]}, r"`parameters` in .* must be like"),
        (ROWS, {"parameters": {"lr": "float"}}, r"`parameters` in .* must be like"),
        (ROWS, {"dataset": "study"}, r"line 2, has no column `study` with the data set"),
        (ROWS, {"dataset": 3}, r"`dataset` in .* must be the name of a column"),
        (ROWS, {"ignore": ["study"]}, r"ignores `study`, which is not a column"),
        (ROWS, {"test": [1]}, r"`test` in .* must be a list of names"),
        (ROWS, {"test": ["a", "a"]}, r"`test` in .* must be a list of names, each given once"),
        (ROWS, {"direction": "up"}, r"`direction` in .* must be `maximize` or `minimize`"),
        (ROWS, {"value": "loss", "dataset": "loss"}, r"`value` in .* must differ from the column"),
        (
            ROWS,
            {"value": "dataset"},
            r"`value` in .* must differ from the column of the data",
        ),
        (ROWS, {"ignore": ["value"]}, r"`ignore` in .* must not name the columns of results"),
        (ROWS, {"budget": 10**400}, r"in 1..10000, but is a whole number of about 400 digits"),
        (
            ROWS,
            {"test": {"a": 1}},
            r"`test` in .* must be a list of names, each given once, but is \{'a': 1\}",
        ),
        (ROWS, {"value": 10**400}, r"`value` in .* must be the name of a column, but is a whole"),
        (
            ROWS,
            {"parameters": {"lr": {"low": -(10**400)}}},
            r"`low` in parameter `lr` .* a finite number",
        ),
        (
            ROWS,
            {"parameters": {"lr": {"high": 10**400}}},
            r"`high` in parameter `lr` .* a finite number",
        ),
        (
            ROWS,
            {"parameters": {"lr": {"high": float("nan")}}},
            r"must have finite numbers, but has NaN",
        ),
        (
            ROWS,
            {"parameters": {"depth": {"high": 2**51}}},
            r"Parameter `depth` .* `Int` cannot hold",
        ),
        (
            ROWS.replace("0.01", "1e999"),
            {},
            r"line 6, must have a finite number as parameter `lr`",
        ),
        (ROWS.replace("0.01", "9" * 400), {}, r"line 6, must have a finite number as parameter"),
        (
            ROWS.replace("0.01", "1_000"),
            {},
            r"line 6, must have a plain number or a name .*`1_000`",
        ),
        (ROWS.replace("0.01", "0x10"), {}, r"line 6, must have a plain number or a name .*`0x10`"),
        (ROWS.replace("0.75", "1_000"), {}, r"line 5, must have a finite number as `value`"),
        (
            ROWS.replace(",5,", f",{2**51},"),
            {},
            r"Parameter `depth` .*within 2\*\*50 of 0.*\"depth\": \{\"type\": \"float\"\}",
        ),
        (ROWS.replace("hinge", "hi\0nge"), {}, r"line 2, has a NUL character"),
        (ROWS.replace("loss", "l" * 2000), {}, r"name of a parameter must be .* 1000 characters"),
        ("a," * 3_000_000, {}, r"columns of .* different names, but column 2 has `a` again"),
        ("x" * 10_000_000, {}, r"line 1, is not CSV: field larger than field limit"),
        (",".join(map(str, range(6000))), {}, r"must have rows"),
        (ROWS.replace("0.75", "1e308"), {}, r"line 5, must have a result within 1e\+100 of 0"),
        (
            f"value,{','.join(f'c{i}' for i in range(6000))}\n" + "1," * 6000 + "1\n",
            {},
            r"must have 1 to 5000 columns with parameters, but .* have 6000",
        ),
        (ROWS, {"budget": 0}, r"`budget` in .* must be a whole number in 1..10000"),
        (ROWS, {"tests": []}, r"must have no other fields than `value`, `dataset`"),
        ("dataset,x,x,value\n", {}, r"columns of .* must have different names"),
        ("dataset,x,value\n", {}, r"must have rows, but the files in .* have none"),
        (
            "dataset,value\na,1\na,2\n",
            {},
            r"must have 1 to 5000 columns with parameters, but .* have none",
        ),
    ],
    ids=brief,
)
def test_a_bad_table_is_refused_in_one_sentence(tmp_path, text, settings, message):
    folder = write(tmp_path / "t", text)
    if settings:
        write(folder, json.dumps(settings), "table.json")
    with pytest.raises(MetaBOError, match=message) as caught:
        read_table(folder)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    folder = write(tmp_path / "t", ROWS)
    (folder / "past.csv").write_bytes(ROWS.encode().replace(b"hinge", b"\xe9"))
    with pytest.raises(DataError, match=r"past.csv` must be text in UTF-8"):
        read_table(folder)
    write(folder, ROWS + "a" * 200_000)
    with pytest.raises(DataError, match=r"past.csv`, line 7, is not CSV: field larger"):
        read_table(folder)
    (tmp_path / "u" / "past.csv").mkdir(parents=True)
    with pytest.raises(DataError, match=r"past.csv` cannot be read: it is a folder"):
        read_table(tmp_path / "u")


def test_a_parquet_file_that_is_none_is_named(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with pytest.raises(DataError, match=r"past.parquet` cannot be read"):
        read_table(write(tmp_path / "t", ROWS, "past.parquet"))


def test_the_usual_budget_is_no_more_than_the_configurations(tmp_path):
    folder = write(tmp_path / "t", ROWS)
    assert read_table(folder).budget == 4
    family = tabular("t", folder)
    assert family().budget == 4
    assert family(budget=9, noise=0.1).budget == 9
    with pytest.raises(OptionError, match=r"`budget` must lie in 1..4, the number of config"):
        family(budget=5)


def test_some_data_set_must_be_left_to_learn_from(tmp_path):
    folder = write(tmp_path / "t", ROWS)
    write(folder, json.dumps({"test": ["a", "b"]}), "table.json")
    with pytest.raises(OptionError, match=r"All data sets are held out for testing"):
        tabular("t", folder)()


def test_files_must_have_the_same_columns(tmp_path):
    write(tmp_path / "t", "x,value\n0,1\n1,2\n", "a.csv")
    write(tmp_path / "t", "x,y,value\n0,1,1\n1,2,2\n", "b.csv")
    with pytest.raises(DataError, match=r"differ in the column `y`"):
        read_table(tmp_path / "t")


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"must contain CSV or Parquet files, but .* has none"):
        read_table(tmp_path)
    with pytest.raises(DataError, match=r"cannot be read: no such folder"):
        read_table(tmp_path / "missing")


def test_a_grid_is_for_the_published_files_only(tmp_path):
    with pytest.raises(OptionError, match=r"`grid` is for the published files"):
        read_table(write(tmp_path / "t", ROWS), grid="published")


def test_a_declared_choice_may_look_like_a_number(tmp_path):
    folder = write(tmp_path / "t", ROWS.replace("0.01", "1_000"))
    write(folder, json.dumps({"parameters": {"lr": {"type": "choice"}}}), "table.json")
    assert read_table(folder).space.parameters["lr"] == Choice(("0.001", "0.1", "1_000"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_do_anywhere(tmp_path, end):
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / "past.csv").write_bytes(ROWS.replace("\n", end).encode())
    assert read_table(folder).datasets == ("a", "b")


def special(path, kind):
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"dangling": "nothing", "loop": path.name, "device": "/dev/zero"}[kind])


@pytest.mark.parametrize("name", ["more.csv", "table.json", "more.parquet"])
@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("fifo", "not a plain file but a device, pipe or socket"),
        ("device", "not a plain file but a device, pipe or socket"),
        ("folder", "it is a folder"),
        ("dangling", "it is a link to a file that does not exist"),
        ("loop", "Too many levels of symbolic links"),
    ],
)
def test_special_files_in_a_folder_are_named_at_once(tmp_path, name, kind, problem):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = write(tmp_path / "t", ROWS)
    special(folder / name, kind)
    with pytest.raises(DataError, match=rf"`.*{name}` cannot be read: .*{problem}"):
        read_table(folder)


def test_links_that_lead_nowhere_but_are_no_table_do_not_matter(tmp_path):
    folder = write(tmp_path / "t", ROWS)
    special(folder / ".#past.csv~", "dangling")
    special(folder / "notes", "loop")
    assert read_table(folder).datasets == ("a", "b")


@pytest.mark.parametrize("kind", ["fifo", "device", "dangling", "loop"])
def test_a_table_that_is_no_folder_is_refused_at_once(tmp_path, kind):
    special(tmp_path / "t", kind)
    with pytest.raises(DataError, match=r"The table folder `.*t` cannot be read: "):
        tabular("t", tmp_path / "t")()


@pytest.mark.parametrize(
    "name", ["~no-such-user", "n" * 5000, "a\0b", "\ud800", "~\ud800"], ids=brief
)
def test_absurd_names_of_folders_are_refused(name):
    with pytest.raises(DataError, match=r"The table folder `.*` cannot be read: ") as caught:
        read_table(name)
    assert len(str(caught.value)) < 400


def test_a_folder_may_lose_files_while_it_is_read(tmp_path, monkeypatch):
    folder = write(tmp_path / "t", ROWS)
    write(folder, ROWS, "z.csv")
    listing = list(folder.iterdir())
    (folder / "z.csv").unlink()
    monkeypatch.setattr("pathlib.Path.iterdir", lambda _: listing)
    with pytest.raises(DataError, match=r"z.csv` cannot be read: No such file"):
        read_table(folder)


def test_a_column_of_parquet_that_comes_twice_is_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    columns = [pyarrow.array([0.1, 0.9])] * 3
    (tmp_path / "p").mkdir()
    twice = pyarrow.Table.from_arrays(columns, ["x", "x", "value"])
    parquet.write_table(twice, tmp_path / "p" / "past.parquet")
    with pytest.raises(DataError, match="column 2 has `x` again"):
        read_table(tmp_path / "p")
