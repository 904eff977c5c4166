import math

import pytest
import torch

import metabo
from metabo.errors import DataError, OptionError, ShapeError
from metabo.explain import explain, explain_run
from metabo.explain.curves import pictures
from metabo.pretrained import load, save
from metabo.seeding import generator


def told(optimizer, n, objective):
    for _ in range(n):
        params = optimizer.ask()
        optimizer.tell(params, objective(params))
    return optimizer


def bowl(params):
    return sum((value - 0.3) ** 2 for value in params.values())


@pytest.fixture(scope="module")
def any_space(tmp_path_factory):
    """An AF for points of any dimension, untrained."""
    path = tmp_path_factory.mktemp("af") / "any.safetensors"
    shape = metabo.acquisition.Architecture(2, ("mean", "std", "progress"), (8,))
    af = metabo.acquisition.NeuralAF(shape, torch.Generator().manual_seed(0))
    card = {k: v for k, v in load("branin").card.items() if k != "architecture"}
    save(af, card, path)
    return path


@pytest.mark.slow
def test_a_journal_of_a_rollout_is_explained_as_the_rollout(tmp_path):
    family = metabo.family("branin")
    task = family.sample(1, generator(0, "test tasks"))
    journal = tmp_path / "run.jsonl"
    with metabo.Optimizer(
        af="branin", direction="maximize", budget=5, journal=journal
    ) as optimizer:
        told(
            optimizer,
            4,
            lambda p: float(task(torch.tensor([[[*p.values()]]], dtype=torch.float64))),
        )
    ours = explain_run("branin", journal)
    theirs = explain("branin", tasks=1, budget=5, steps=[1, 2, 3, 4])
    assert ours.where == "run.jsonl"
    assert ours.values == "value"
    for mine, its in zip(ours.episodes[0].steps, theirs.episodes[0].steps, strict=True):
        torch.testing.assert_close(mine.query, its.query)
        assert mine.told == pytest.approx(its.value)
        assert mine.value == mine.told
        assert (mine.number, mine.budget, mine.ei_rank) == (its.number, its.budget, its.ei_rank)
        torch.testing.assert_close(mine.views[0].mean, its.views[0].mean)
        torch.testing.assert_close(mine.views[0].score, its.views[0].score)
        assert mine.views[0].truth is None


def test_each_step_is_what_the_optimizer_saw_then(any_space):
    space = {"a": metabo.Float(-1, 2), "b": metabo.Float(1e-3, 1, log=True)}
    run = metabo.Optimizer(space, budget=9, af="ei")
    seen = []
    for _ in range(6):
        seen.append(run.state)
        params = run.ask()
        run.tell(params, bowl(params))
    explanation = explain_run(any_space, run, steps="all")
    assert explanation.values == "-value, scaled"
    assert explanation.axes == ("a", "b")
    for step, state in zip(explanation.episodes[0].steps, seen, strict=True):
        assert torch.equal(step.seen_y, state.gp.y[0])
        belief = state.belief(step.views[0].x[None])
        torch.testing.assert_close(step.views[0].mean, belief.mean[0])
    steps = explanation.episodes[0].steps
    # No scale before two values that differ; afterwards that of the step.
    assert [math.isnan(step.value) for step in steps] == [True, True, *[False] * 4]
    for step in steps[2:]:
        order = sorted([*run.history[: step.number - 1]], key=lambda one: one.value)
        scaled = [step.seen_y[run.history.index(one)] for one in order]
        for one, y in zip(order, scaled, strict=True):
            assert (one.value < step.told) == (float(y) > step.value)


def test_failures_have_no_value(any_space):
    run = told(metabo.Optimizer({"x": metabo.Float(0, 1)}, budget=9), 2, bowl)
    run.tell_failure(run.ask())
    (episode,) = explain_run(any_space, run).episodes
    last = episode.steps[-1]
    assert last.told is None
    assert math.isnan(last.value)


def test_random_search_is_seen_with_the_gp_of_the_af():
    run = told(metabo.Optimizer(metabo.Space.cube(4), budget=9, af="random"), 3, bowl)
    explanation = explain_run("furuta-50", run)
    assert explanation.values == "-value"
    own = load("furuta-50").prior.signal_variance.sqrt()
    assert float(explanation.episodes[0].steps[0].std) == pytest.approx(float(own))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "files"),
    [
        ({"x": metabo.Float(0, 1)}, ["plane.png", "strategy.png"]),
        ({"n": metabo.Int(0, 9), "x": metabo.Float(0, 1)}, ["plane.png", "episode-1.png"]),
        ({"n": metabo.Int(0, 5), "m": metabo.Int(0, 5)}, ["plane.png", "episode-1.png"]),
        (
            {"c": metabo.Choice((0, 1, 2)), "n": metabo.Int(0, 9), "x": metabo.Float(0, 1)},
            ["plane.png", "episode-1.png"],
        ),
    ],
)
def test_every_kind_of_space_is_drawn(any_space, space, files, tmp_path):
    run = told(metabo.Optimizer(space, budget=9), 3, bowl)
    drawn = pictures(explain_run(any_space, run, steps=[1, 3]))
    assert list(drawn) == files
    drawn[files[1]](tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_runs_that_cannot_be_looked_at_are_named(any_space, tmp_path):
    empty = metabo.Optimizer(metabo.Space.cube(2), budget=9)
    with pytest.raises(DataError, match=r"No evaluation was told in the run"):
        explain_run("branin", empty)
    with pytest.raises(ShapeError, match=r"trained for points of 1 dimensions, but the run has 2"):
        explain_run("rhino-1", empty)
    with pytest.raises(DataError, match=r"The journal `.*none.jsonl` cannot be read"):
        explain_run("branin", tmp_path / "none.jsonl")
    kinds = metabo.Optimizer({"c": metabo.Choice(("a", "b"))}, budget=2)
    kinds.tell(kinds.ask(), 1.0)
    with pytest.raises(OptionError, match=r"All parameters of the run are `Choice`s"):
        explain_run(any_space, kinds)
    run = told(empty, 2, bowl)
    with pytest.raises(OptionError, match=r"`steps` must be whole numbers in 1..2 "):
        explain_run("branin", run, steps=[3])
