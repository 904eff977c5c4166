import json
import shlex

import pytest

from metabo import Choice, Float, Int, Optimizer, Space
from metabo.cli.assignments import read_words, written
from metabo.space.schema import to_json

SPACE = Space(
    {
        "rate": Float(1e-5, 0.1, log=True),
        "layers": Int(1, 4),
        "kind": Choice(("a b", "1", 1, True, None, "true", 0.5)),
    }
)


@pytest.fixture
def space(tmp_path):
    path = tmp_path / "space.json"
    path.write_text(json.dumps(to_json(SPACE)))
    return path


@pytest.mark.parametrize("kind", SPACE.parameters["kind"].values)
def test_what_is_written_is_read(kind):
    params = {"rate": 0.1 / 3, "layers": 2, "kind": kind}
    read, value = read_words([*shlex.split(written(params, SPACE)), "value=-1e-3"], SPACE)
    assert SPACE.clean(read) == params
    assert type(SPACE.clean(read)["kind"]) is type(kind)
    assert value == -1e-3


def test_text_needs_no_quotes_where_it_is_clear():
    assert written({"rate": 0.1, "layers": 2, "kind": "a b"}, SPACE) == (
        "rate=0.1 layers=2 'kind=a b'"
    )
    assert read_words(["kind=1"], SPACE)[0] == {"kind": 1}
    assert read_words(['kind="1"'], SPACE)[0] == {"kind": "1"}


def test_a_parameter_may_be_called_value():
    space = Space({"value": Float(0.0, 1.0)})
    assert read_words(["value=0.5"], space) == ({"value": 0.5}, None)


def test_a_name_may_have_an_equals_sign_and_a_text_be_empty():
    space = Space({"x": Float(0.0, 1.0), "x=1": Float(0.0, 1.0), "größe": Choice(("", "a=b"))})
    for size in ("", "a=b"):
        params = {"x": 0.25, "x=1": 0.5, "größe": size}
        words = shlex.split(written(params, space))
        assert read_words([*words, "value=2"], space) == (params, 2.0)


def test_why_is_said_beside_the_points_and_not_among_them(metabo, tmp_path):
    journal, twin = tmp_path / "run.jsonl", tmp_path / "twin.jsonl"
    for path in (journal, twin):
        with Optimizer({"x": Float(0.0, 1.0)}, budget=6, af="ei", journal=path) as optimizer:
            for x, value in ((0.0, 0.5), (1.0, 0.75)):
                optimizer.tell({"x": x}, value)
            expected = [one.why.sentence for one in optimizer.propose(2)]
    code, out, err = metabo("ask", journal, "-n", 2, "--why")
    assert (code, err.splitlines()) == (0, expected)
    assert "best so far 0.5; chosen by `ei`." in expected[0]
    assert metabo("ask", twin, "-n", 2)[:2] == (0, out)
    code, _, err = metabo("ask", journal, "--again", "--why")
    assert code == 2
    assert "`--why` explains new points" in err


@pytest.mark.slow
def test_the_shell_repeats_the_optimizer(metabo, tmp_path, space):
    journal = tmp_path / "run.jsonl"
    code, out, _ = metabo("init", journal, "--space", space, "--budget", 5, "--seed", 4)
    assert code == 0
    assert "rate, layers, kind; 5 of 5 evaluations left" in out
    assert "GP prior: fitted to the history" in out
    optimizer = Optimizer(SPACE, budget=5, seed=4)
    for value in (2.0, 0.125, None, 1 / 3):
        params = optimizer.ask()
        code, out, _ = metabo("ask", journal, "--json")
        assert json.loads(out) == params
        code, out, _ = metabo("ask", journal, "--again")
        assert out.strip() == written(params, SPACE)
        words = shlex.split(out)
        told = ["--failed"] if value is None else [f"value={value!r}"]
        code, out, _ = metabo("tell", journal, *words, *told)
        assert code == 0
        if value is None:
            optimizer.tell_failure(params)
        else:
            optimizer.tell(params, value)
        assert f"{optimizer.remaining} of 5 evaluations left" in out
    with Optimizer.open(journal) as kept:
        assert kept.history == optimizer.history
        assert kept.ask() == optimizer.ask()


def test_an_artifact_brings_its_space_and_budget(metabo, tmp_path):
    journal = tmp_path / "run.jsonl"
    code, out, _ = metabo("init", journal, "--artifact", "branin", "--direction", "maximize")
    assert code == 0
    assert "x1, x2; 30 of 30 evaluations left" in out
    assert metabo("tell", journal, "x1=0.25", "x2=1", "value=-3.5")[0] == 0
    _, out, _ = metabo("ask", journal, "-n", 3, "--json")
    batch = [json.loads(line) for line in out.splitlines()]
    optimizer = Optimizer(af="branin", direction="maximize")
    optimizer.tell({"x1": 0.25, "x2": 1}, -3.5)
    assert batch == optimizer.ask_batch(3)


def test_show_prints_a_table_and_draws_a_picture(metabo, tmp_path):
    journal = tmp_path / "run.jsonl"
    metabo("init", journal, "--artifact", "rhino-1", "--budget", 10)
    code, out, _ = metabo("show", journal)
    assert code == 0
    assert "10 of 10 evaluations left" in out
    metabo("tell", journal, "x1=0.5", "--failed")
    metabo("tell", journal, "x1=0.25", "value=2.5")
    metabo("tell", journal, "x1=0.75", "--value", "-1.5")
    (tmp_path / "run.png").unlink()
    code, out, _ = metabo("show", journal)
    assert code == 0
    assert "failed" in out
    assert "Best: x1=0.75 value=-1.5" in out
    assert "7 of 10 evaluations left; GP prior: the artifact's own" in out
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_two_benches_get_two_points(metabo, tmp_path):
    journal = tmp_path / "run.jsonl"
    metabo("init", journal, "--artifact", "branin", "--budget", 4)
    first, second = (metabo("ask", journal)[1].strip() for _ in range(2))
    assert first != second
    assert metabo("ask", journal, "--again")[1].split("\n") == [first, second, ""]
    assert "2 points are under way. Name the one" in metabo("ask", journal, "--drop")[2]
    assert metabo("tell", journal, *first.split(), "value=1")[1] == (
        f"Recorded as number 1: {first} value=1.0\n3 of 4 evaluations left, 1 of them under way.\n"
    )
    assert "under way" in metabo("show", journal)[1]
    assert metabo("ask", journal, "--drop", *second.split())[1] == (
        f"Gave up {second}\n3 of 4 evaluations left.\n"
    )
    assert metabo("ask", journal, "--again")[1:] == ("", "Nothing is under way.\n")
    assert metabo("ask", journal, "-n", 3)[0] == 0
    code, _, err = metabo("ask", journal)
    assert code == 2
    remedy = f"Give the run a larger budget with `metabo extend {journal} --budget N`, or give up"
    assert f"is spent (3 under way). {remedy}" in " ".join(err.split())
    assert metabo("ask", journal, "--drop", "--all")[1].endswith("\n3 of 4 evaluations left.\n")
    assert "Nothing is under way" in metabo("ask", journal, "--drop")[2]


def test_a_result_is_taken_back_and_a_spent_run_goes_on(metabo, tmp_path):
    journal = tmp_path / "run.jsonl"
    metabo("init", journal, "--artifact", "rhino-1", "--budget", 2)
    metabo("tell", journal, "x1=0.5", "value=1")
    metabo("tell", journal, "x1=0.25", "value=200")
    assert "is spent. Give the run a larger" in " ".join(metabo("ask", journal)[2].split())
    assert metabo("extend", journal, "--budget", 5)[1] == "3 of 5 evaluations left.\n"
    assert metabo("forget", journal, 2)[1] == (
        "Forgot number 2: x1=0.25 value=200.0\n4 of 5 evaluations left.\n"
    )
    assert metabo("ask", journal)[0] == 0
    out = metabo("show", journal)[1]
    assert "Best: x1=0.5 value=1.0" in out
    assert "200" not in out
    assert "200.0" in journal.read_text()  # nothing is erased
    for arguments, message in (
        (("forget", journal, 2), "no evaluation 2 to forget: it has already been forgotten"),
        (("forget", journal, 9), "`N` must be a whole number in 1..2"),
        (("extend", journal, "--budget", 5), "The budget is already 5 and can only grow"),
        (("extend", journal, "--budget", 10**9), "`--budget` must be a whole number in 1..10000"),
    ):
        code, _, err = metabo(*arguments)
        assert code == 2
        assert message in " ".join(err.split())


def test_a_damaged_journal_is_named_and_copied(metabo, tmp_path):
    journal = tmp_path / "run.jsonl"
    metabo("init", journal, "--artifact", "rhino-1", "--budget", 5)
    for value in (1, 2, 3):
        metabo("tell", journal, f"x1=0.{value}", f"value={value}")
    content = journal.read_text().replace('"value": 2.0', '"value": 7.0')
    journal.write_text(content)
    for arguments in (("ask", journal), ("tell", journal, "x1=1", "value=1"), ("show", journal)):
        code, _, err = metabo(*arguments)
        assert code == 2
        assert f"Line 3 of the journal `{journal}` is damaged" in " ".join(err.split())
    code, out, _ = metabo("show", journal, "--repair")
    assert code == 0
    assert "run-repaired.jsonl with 2 evaluations" in out
    assert "Left out, line 3: " in out
    assert "1 line could not be recovered. Look at what was left out" in out
    assert journal.read_text() == content
    assert metabo("tell", tmp_path / "run-repaired.jsonl", "x1=0.2", "value=2")[0] == 0
    assert "run-repaired-2.jsonl with 2" in metabo("show", journal, "--repair")[1]
    numbers = [one.number for one in Optimizer.open(tmp_path / "run-repaired.jsonl").history]
    assert numbers == [1, 3, 4]  # as before, but for the lost one


def test_telling_works_when_the_artifact_is_gone(metabo, tmp_path):
    from metabo.pretrained import artifacts

    file, journal = tmp_path / "af.safetensors", tmp_path / "run.jsonl"
    file.write_bytes(artifacts()["rhino-1"].read_bytes())
    metabo("init", journal, "--artifact", file)
    moved = file.rename(tmp_path / "moved.safetensors")
    assert metabo("ask", journal)[0] == 2
    assert metabo("ask", journal, "--artifact", moved)[0] == 0
    assert metabo("tell", journal, "x1=0.5", "value=1")[0] == 0
    code, out, _ = metabo("show", journal)
    assert code == 0
    assert "nothing can be asked: " in out


def test_no_command_writes_over_a_journal_or_a_foreign_picture(metabo, tmp_path):
    journal, other, photo = (tmp_path / name for name in ("a.jsonl", "b.png", "a.png"))
    for path in (journal, other):
        metabo("init", path, "--artifact", "rhino-1")
        metabo("tell", path, "x1=0.5", "value=42")
    before = other.read_bytes()
    for arguments in (
        ("show", journal, "--out", other),
        ("evaluate", "rhino-1", "--methods", "random", "--tasks", 1, "--out", tmp_path / "out"),
    ):
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "results.json").write_bytes(before)
        code, _, err = metabo(*arguments)
        assert code == 2
        assert "is the journal of a run and must not be replaced" in " ".join(err.split())
        assert other.read_bytes() == (tmp_path / "out" / "results.json").read_bytes() == before
    photo.write_bytes(b"my photo")
    assert "is not a picture that metabo drew" in " ".join(metabo("show", journal)[2].split())
    assert photo.read_bytes() == b"my photo"
    photo.unlink()
    assert [metabo("show", journal)[0] for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("word", ["1_5", "\u0661", "1e-400", "0x10", "1,5", "1e999", ""])
def test_a_slip_is_not_taken_for_another_number(metabo, tmp_path, word):
    journal = tmp_path / "run.jsonl"
    metabo("init", journal, "--artifact", "rhino-1")
    assert metabo("tell", journal, "x1=0.5", f"value={word}")[0] == 2
    assert metabo("tell", journal, f"x1={word}", "value=1")[0] == 2
    assert Optimizer.open(journal).n_told == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("tell", "RUN", "x1=2", "value=1"),
            r"Error: Parameter `x1`: A value must be a number in",
        ),
        (("tell", "RUN", "x1=abc", "value=1"), r"Error: Parameter `x1`: A value must be a number"),
        (("tell", "RUN", "x1=0.5", "value=nan"), "Error: A value must be a finite number"),
        (("tell", "RUN", "x1=0.5", "value=a"), "Error: A value must be a finite number, but got"),
        (
            ("tell", "RUN", "x1=0.5", "value=nan"),
            "Error: A value must be a finite number, but got `nan`. Write it like 0.37 or 1e-3, "
            "or report a failed evaluation with `--failed`",
        ),
        (
            ("tell", "RUN", "x1=0.5", "--value", "inf"),
            "Error: A value must be a finite number, but got `inf`.",
        ),
        (("tell", "RUN", "x1=0.5"), "Error: Give exactly one of `value=...`, `--value` and"),
        (("tell", "RUN", "x1=0.5", "value=1", "--failed"), "Error: Give exactly one of"),
        (("tell", "RUN", "x1=0.5", "value=1", "--value", "1"), "Error: Give exactly one of"),
        (("tell", "RUN", "x1=0.5", "x1=0.5", "value=1"), "Error: `x1` is given twice"),
        (
            ("tell", "RUN", "x2=0.5", "value=1"),
            "Error: Unknown parameter `x2`. Choose from: `x1`.",
        ),
        (("tell", "RUN", "0.5", "value=1"), "Error: Parameters must be written `name=value`"),
        (("tell", "RUN", "x1=", "value=1"), "Error: Parameter `x1`: A value must be a number"),
        (
            ("show", "RUN", "--out", "run.jsonl"),
            "Error: A picture cannot be written to `run.jsonl`",
        ),
        (("ask", "RUN", "-n", "11"), "Error: 11 evaluations were asked for, but 10 of the"),
        (("ask", "missing.jsonl"), "Error: The journal `missing.jsonl` cannot be read"),
        (("init", "RUN", "--artifact", "branin"), "Error: `RUN` already exists. Choose another"),
        (("init", "new.jsonl", "--artifact", "branin", "--af", "ei"), "Error: Give `--artifact`"),
        (
            ("init", "new.jsonl", "--af", "ei", "--budget", "3"),
            "Error: A run needs a space. Give a JSON file of",
        ),
        (
            ("init", "new.jsonl", "--space", "none.json"),
            "Error: The `--space` file `none.json` cannot",
        ),
        (("init", "new.jsonl", "--artifact", "branim"), "Error: Unknown acquisition function"),
    ],
)
def test_mistakes_are_one_sentence_and_change_nothing(
    metabo, tmp_path, monkeypatch, unchecked, arguments, message
):
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "run.jsonl"
    Optimizer(af="rhino-1", budget=10, journal=run).close()
    before = run.read_bytes()
    code, _, err = metabo(*(run if word == "RUN" else word for word in arguments))
    assert code == 2
    assert " ".join(err.split()).replace(str(run), "RUN").startswith(message)
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]
    assert run.read_bytes() == before


def test_a_picture_never_takes_the_place_of_its_journal(metabo, tmp_path):
    run = tmp_path / "run.png"
    Optimizer(af="rhino-1", journal=run).close()
    before = run.read_bytes()
    code, _, err = metabo("show", run)
    assert code == 2
    assert "is not the journal's" in " ".join(err.split())
    assert run.read_bytes() == before


def test_a_space_that_is_none_is_named(metabo, tmp_path):
    path = tmp_path / "space.json"
    for text, message in (
        ("{", "must be JSON, but it is not: Expecting"),
        ('{"x": 1}', "cannot be used: Parameter `x` must be like"),
    ):
        path.write_text(text)
        code, _, err = metabo("init", tmp_path / "run.jsonl", "--space", path, "--budget", 3)
        assert code == 2
        assert message in " ".join(err.split())
