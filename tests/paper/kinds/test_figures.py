from pathlib import Path

import pytest

from metabo.evaluation.plots import styles
from metabo.paper.catalogue import ALL_SOURCES, EXPERIMENTS
from metabo.paper.kinds import kind_of
from metabo.paper.results import Stored, read

pytestmark = pytest.mark.slow  # whole runs, which need no checks of shapes

TRAINING = {"config": {"episodes": 10, "group": 2}, "best_iteration": 12, "seconds": 5.0}


def record(unit, **result):
    return {"configuration": {"budget": unit.budget, "sources": unit.sources}, "result": result}


def curve(unit, start=4.0, end=0.5, at=3):
    median = [start] * (at - 1) + [end] * (unit.budget - at + 1)
    return {"median": median, "q30": median, "q70": median}


def results(name, **extra):
    return {
        (u.family, u.label): record(u, **curve(u), **extra)
        for u in EXPERIMENTS[name].units("full")
        if u.method != "metabo-50"  # as if it had not been run
    }


def figure(name, found):
    one = EXPERIMENTS[name]
    return kind_of(one.kind).figure(Stored(one, "full", found))


def labels(axes):
    return axes.get_legend_handles_labels()[1]


def test_a_pendulums_picture_has_the_share_kept_up_below_the_regret():
    found = results("figure-3-reference", first_stabilized=[0, 2, 5, 5])
    upper, _, lower, _ = figure("figure-3-reference", found).axes
    assert "metabo" in labels(upper)
    assert "metabo-50" not in labels(upper)
    share = lower.lines[0].get_ydata()
    assert (share[0], share[1], share[4], share[49]) == (0, 0.25, 0.75, 0.75)


def test_steps_to_the_threshold_are_drawn_over_the_ranges_and_open_where_not_reached():
    one = EXPERIMENTS["generalization-furuta"]
    found = results("generalization-furuta")
    lost = next(u for u in one.units("full") if u.method == "metabo")
    found[lost.family, "metabo"] = record(lost, **curve(lost, end=2.0))
    (axes,) = figure("generalization-furuta", found).axes
    line, opened = axes.lines[0], axes.lines[1]
    assert list(line.get_xdata())[:2] == [0.1, 0.3]
    assert list(line.get_ydata())[:2] == [31, 3]
    assert list(opened.get_xdata()) == [0.1]
    colours = {line.get_label(): line.get_color() for line in axes.lines}
    assert all(colours[m] == style[0] for m, style in styles(list(one.methods)).items())


def test_the_study_of_sources_marks_how_many_tasks_the_full_version_saw():
    found = results("sources-furuta", training=TRAINING)
    (axes,) = figure("sources-furuta", found).axes
    assert [int(m) for m in axes.lines[0].get_xdata()] == [1, 5, 20, 50, 100, 500]
    assert set(axes.lines[0].get_ydata()) == {3}
    assert any("60 seen at convergence" in label for label in labels(axes))


def test_a_map_says_what_is_not_run():
    one = EXPERIMENTS["generalization"]
    unit = next(one.units("full"))
    edges = [0.0, 0.5, 1.0]
    result = {"translations": edges, "scales": edges, "steps": [[1, 0], [30, 2]]}
    drawn = figure("generalization", {(unit.family, unit.label): record(unit, **result)})
    texts = [text.get_text() for axes in drawn.axes for text in axes.texts]
    assert texts == ["not run"] * 5


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures_are_written_in_both_forms(tmp_path, suffix):
    found = results("sources-branin", training=TRAINING)
    path = tmp_path / f"picture.{suffix}"
    figure("sources-branin", found).savefig(path)
    assert path.stat().st_size > 1000
    assert any(label.endswith(ALL_SOURCES) for _, label in found)


def one_of_each_kind_first():
    """All experiments; the unit suite draws one of each kind."""
    kinds = set()
    for name, one in EXPERIMENTS.items():
        yield pytest.param(name, marks=[pytest.mark.slow] if one.kind in kinds else [])
        kinds.add(one.kind)


@pytest.mark.parametrize("name", list(one_of_each_kind_first()))
def test_no_title_or_legend_is_cut_off(name):
    stored = read(EXPERIMENTS[name], "full", Path(__file__).parents[3] / "results")
    drawn = kind_of(stored.experiment.kind).figure(stored)
    drawn.draw_without_rendering()
    whole = drawn.bbox
    for artist in (drawn._suptitle, *drawn.legends):
        box = artist.get_window_extent()
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert box.y1 <= whole.y1
