import json
from importlib import import_module
from inspect import signature

import pytest
import torch

import metabo
from metabo.errors import DataError, OptionError, ShapeError
from metabo.evaluation import METHODS, Setting, method
from metabo.evaluation.methods import identity
from metabo.evaluation.plots import regret_title
from metabo.policies import searcher
from metabo.pretrained import artifacts
from metabo.version import commit


def test_results_have_the_promised_form():
    evaluation = metabo.evaluate("branin", methods=["ei", "ucb:beta=9"], tasks=4, budget=3)
    record = json.loads(json.dumps(evaluation.record(), allow_nan=False))
    assert list(record) == [
        "family",
        "budget",
        "tasks",
        "seed",
        "device",
        "search",
        "hyperparameters",
        "stream",
        "task_file",
        "versions",
        "commit",
        "methods",
    ]
    assert (record["family"], record["budget"], record["tasks"]) == ("branin", 3, 4)
    assert (record["seed"], record["device"], record["search"]) == (0, "cpu", "gradient")
    assert (record["stream"], record["task_file"]) == ("test tasks", None)
    assert record["commit"] == commit()
    assert set(record["versions"]) == {"metabo", "python", "torch", "numpy"}
    assert list(record["methods"]) == ["ei", "ucb:beta=9"]
    for result in record["methods"].values():
        assert list(result) == [
            "median",
            "q30",
            "q70",
            "mean",
            "regret",
            "queries",
            "seconds_per_episode",
            "identity",
        ]
        assert all(len(result[key]) == 3 for key in ("median", "q30", "q70", "mean"))
        regret = torch.tensor(result["regret"], dtype=torch.float64)
        assert regret.shape == (4, 3)
        assert torch.tensor(result["queries"]).shape == (4, 3, 2)
        torch.testing.assert_close(regret.quantile(0.5, 0).tolist(), result["median"])
        torch.testing.assert_close(regret.mean(0).tolist(), result["mean"])
        assert result["seconds_per_episode"] > 0


def test_episodes_in_chunks_are_those_of_one_batch(monkeypatch):
    def run():
        return metabo.evaluate("branin:noise=0.1", methods=["metabo", "random"], tasks=7, budget=3)

    whole = run()
    module = import_module("metabo.evaluation.evaluate")  # its name is also the function's
    monkeypatch.setattr(module, "AT_ONCE", 3)
    told = []
    parts = metabo.evaluate(
        "branin:noise=0.1",
        methods=["metabo", "random"],
        tasks=7,
        budget=3,
        on_progress=lambda *step: told.append(step),
    )
    for name, result in whole.methods.items():
        # On some CPUs a product of matrices rounds its last rows differently, and the climbs to
        # the maximum amplify that.
        seen = parts.methods[name]
        torch.testing.assert_close(seen.queries, result.queries, rtol=0, atol=1e-5)
        torch.testing.assert_close(seen.regret, result.regret, rtol=1e-3, atol=1e-6)
    assert [step for step in told if step[0] == "random"] == [
        ("random", done + 1, 9) for done in range(9)
    ]


def test_the_file_of_results_has_the_text_of_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr("metabo.evaluation.results._ROWS", 2)
    outcome = metabo.evaluate("rhino-1", methods=["ei", "random"], tasks=5, budget=2)
    outcome.save(tmp_path / "results.json")
    assert (tmp_path / "results.json").read_text() == json.dumps(outcome.record())


def test_the_family_is_built_once_and_its_artifact_loaded_once(monkeypatch):
    calls = []
    for place in ("metabo.tasks.registry.build", "metabo.pretrained.artifact._read"):
        module, name = place.rsplit(".", 1)
        original = getattr(import_module(module), name)

        def counted(*given, name=name, original=original):
            calls.append(name)
            return original(*given)

        monkeypatch.setattr(place, counted)
    metabo.evaluate("rhino-1", methods=["metabo", "ei"], tasks=1, budget=1)
    assert sorted(calls) == ["_read", "build"]


def test_a_family_and_an_artifact_can_be_given_themselves():
    family, af = metabo.family("rhino-1"), metabo.load("rhino-1")
    by_name = metabo.evaluate("rhino-1", methods=["metabo"], tasks=2, budget=2)
    given = metabo.evaluate(family, methods=["metabo"], tasks=2, budget=2, artifact=af)
    assert torch.equal(given.methods["metabo"].regret, by_name.methods["metabo"].regret)
    assert given.methods["metabo"].identity == by_name.methods["metabo"].identity
    assert (given.family, given.summary) == ("rhino-1", "median")


def test_a_method_is_stored_with_all_its_options_and_its_artifact(tmp_path):
    file = tmp_path / "copy.safetensors"
    file.write_bytes(artifacts()["branin-50"].read_bytes())
    run = metabo.evaluate(
        "branin:noise=0.1", methods=["metabo", "metabo-50", "ucb:beta=9"], tasks=1, budget=1
    )
    given = metabo.evaluate("branin", methods=["metabo"], tasks=1, budget=1, artifact=file)
    known = {name: result.identity for name, result in run.methods.items()}
    assert known["ucb:beta=9"] == {"beta": "9", "schedule": "fixed", "delta": "0.1"}
    assert known["metabo"] == identity("metabo", "branin")
    assert known["metabo"] != known["metabo-50"]
    assert given.methods["metabo"].identity == known["metabo-50"]


def test_methods_meet_the_same_tasks_whatever_their_company():
    both = metabo.evaluate("hartmann-3", methods=["random", "ei"], tasks=3, budget=2)
    alone = metabo.evaluate("hartmann-3", methods=["ei"], tasks=3, budget=2)
    assert torch.equal(both.methods["ei"].regret, alone.methods["ei"].regret)


def test_the_family_goes_by_the_same_name_as_in_train():
    first = [next(iter(signature(f).parameters)) for f in (metabo.evaluate, metabo.train)]
    assert first == ["family", "family"]


def test_validation_tasks_are_others_than_test_tasks():
    runs = [
        metabo.evaluate("branin", methods=["random"], tasks=3, budget=2, stream=stream)
        for stream in ("test tasks", "validation tasks")
    ]
    test, validation = (run.methods["random"] for run in runs)
    assert torch.equal(test.queries, validation.queries)
    assert not torch.isclose(test.regret, validation.regret).any()


def test_explicit_tasks_are_used(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text('[{"height": 0.7}, {"height": 0.8}]')
    evaluation = metabo.evaluate("rhino-2", methods=["random"], task_file=path, budget=2)
    assert evaluation.tasks == 2
    assert evaluation.record()["task_file"] == "tasks.json"
    assert regret_title(evaluation) == "rhino-2: 2 tasks from tasks.json, gradient search"
    tasks = metabo.family("rhino-2").read([{"height": 0.7}, {"height": 0.8}])
    result = evaluation.methods["random"]
    first = tasks.optimum[:, None] - tasks(result.queries[:, :1])
    torch.testing.assert_close(result.regret[:, :1], first)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        ("{", "must be JSON, but it is not"),
        ('{"height": 1}', "must hold a list"),
        ("[]", "at least one task"),
        (
            '[{"heigth": 0.7}]',
            "Task 0 must have no other fields than `height`, .*Did you mean `height`",
        ),
        ("[3]", "Task 0 must be an object"),
    ],
)
def test_task_files_that_do_not_fit_are_named(tmp_path, unchecked, content, message):
    path = tmp_path / "tasks.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match=message) as raised:
        metabo.evaluate("rhino-2", task_file=path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["eii"]}, "Unknown method `eii`. Did you mean `ei`"),
        (
            {"methods": ["ei:beta=2"]},
            "Unknown option of method `ei` `beta`. Choose from: `M`, `N`, `guard`, `prior`",
        ),
        ({"methods": ["ucb:beta=x"]}, "Option `beta` of method `ucb` must be a finite number"),
        ({"methods": ["ucb:schedule=x"]}, "must be one of `fixed`, `gp-ucb`, but got `x`"),
        ({"methods": []}, "at least one name"),
        ({"methods": ["ei", "ei"]}, "Each method can be given once"),
        ({"tasks": 0}, r"`tasks` must be a whole number in 1..1000000, but got 0"),
        ({"tasks": 2.5}, "`tasks` must be a whole number"),
        ({"budget": 0}, r"`budget` must be a whole number in 1..10000, but got 0"),
        ({"budget": 10**20}, "`budget` must be a whole number"),
        ({"methods": ["ei", " ei"]}, "Each method can be given once"),
        ({"methods": [1]}, "at least one name"),
        ({"methods": ["ucb:beta=-1"]}, "`beta` must be a finite number of at least 0, but got -1"),
        ({"methods": ["ucb:delta=0"]}, "`delta` must lie between 0 and 1"),
        ({"methods": ["pi:xi=nan"]}, "`xi` of method `pi` must be a finite number"),
        ({"methods": ["taf-me:M=0"]}, r"`M`, the number of source tasks .* in 1..1000000"),
        ({"methods": ["taf-r:N=9999"]}, r"`N`, the number of points per source .* in 1..5000"),
        ({"methods": ["taf-r:rho=0"]}, "`rho` must be a positive number"),
        ({"methods": ["taf-me:rho=1"]}, "Unknown option of method `taf-me` `rho`"),
        ({"methods": ["gmm-ucb:w=2"]}, r"`w` of method `gmm-ucb` must be a number in 0..1 or"),
        ({"methods": ["gmm-ucb:components=0"]}, r"`components` must lie in 1..50 "),
        ({"methods": ["eps-greedy:epsilon=x"]}, r"must be a number in 0..1 or `linear`"),
        ({"search": "gird"}, "Unknown search `gird`. Did you mean `grid`"),
        ({"stream": "training tasks"}, "Unknown stream `training tasks`"),
        ({"device": "tpu"}, "Unknown device on this machine: `tpu`"),
        ({"device": "cuda:99"}, "Unknown device on this machine: `cuda:99`"),
    ],
)
def test_mistakes_are_found_before_anything_runs(options, message, unchecked):
    def never(*_):
        raise AssertionError("a run was started")

    with pytest.raises(OptionError, match=message):
        metabo.evaluate("branin", on_progress=never, **options)


def test_the_learned_af_comes_from_the_family_or_from_a_file(tmp_path):
    own = metabo.evaluate("branin", methods=["metabo"], tasks=3, budget=3)
    path = artifacts()["branin"]
    given = metabo.evaluate("branin", methods=["metabo"], tasks=3, budget=3, artifact=path)
    assert torch.equal(own.methods["metabo"].queries, given.methods["metabo"].queries)


def test_an_af_for_other_dimensions_is_refused():
    with pytest.raises(
        ShapeError, match="trained for points of 3 dimensions, but family `branin`"
    ):
        metabo.evaluate("branin", methods=["metabo"], artifact="hartmann-3")


def test_a_missing_artifact_says_how_to_make_one():
    train = r"no artifact `rhino-1-50`.* train one with `metabo train rhino-1 --sources 50`"
    with pytest.raises(OptionError, match=train):
        metabo.evaluate("rhino-1", methods=["metabo-50"])


def test_every_method_is_documented():
    family = metabo.family("branin")
    for name, builder in METHODS.items():
        assert builder.__doc__
        method(name, Setting(family, searcher("grid", family.domain)))


def test_fitted_hyperparameters_are_found_by_every_method_that_has_a_model():
    both = {
        kind: metabo.evaluate(
            "branin", methods=["ei", "random"], tasks=3, budget=6, hyperparameters=kind
        )
        for kind in ("known", "fitted")
    }
    known, fitted = both["known"].methods, both["fitted"].methods
    assert both["fitted"].record()["hyperparameters"] == "fitted"
    assert torch.equal(known["random"].queries, fitted["random"].queries)
    assert torch.equal(known["ei"].queries[:, 0], fitted["ei"].queries[:, 0])
    assert not torch.equal(known["ei"].queries, fitted["ei"].queries)


def test_methods_with_source_data_refuse_fitted_hyperparameters(unchecked):
    with pytest.raises(OptionError, match=r"`eps-greedy` compares values with those of source"):
        metabo.evaluate("branin", methods=["eps-greedy"], hyperparameters="fitted")
    with pytest.raises(OptionError, match=r"Unknown value of `hyperparameters` `fited`. Did you"):
        metabo.evaluate("branin", hyperparameters="fited")
