import pytest

from metabo.paper import study_figures
from metabo.paper.catalogue import ALL_SOURCES, EXPERIMENTS
from metabo.paper.figures import plot_experiment

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


def labels(axes):
    return axes.get_legend_handles_labels()[1]


def test_a_pendulums_picture_has_the_share_kept_up_below_the_regret():
    found = results("figure-3-reference", first_stabilized=[0, 2, 5, 5])
    figure = study_figures.control(EXPERIMENTS["figure-3-reference"], found)
    upper, _, lower, _ = figure.axes
    assert "metabo" in labels(upper)
    assert "metabo-50" not in labels(upper)
    share = lower.lines[0].get_ydata()
    assert (share[0], share[1], share[4], share[49]) == (0, 0.25, 0.75, 0.75)


def test_steps_to_the_threshold_are_drawn_over_the_ranges_and_open_where_not_reached():
    one = EXPERIMENTS["generalization-furuta"]
    found = results("generalization-furuta")
    lost = next(u for u in one.units("full") if u.method == "metabo")
    found[lost.family, "metabo"] = record(lost, **curve(lost, end=2.0))
    (axes,) = study_figures.reach(one, found).axes
    line, opened = axes.lines[0], axes.lines[1]
    assert list(line.get_xdata())[:2] == [0.1, 0.3]
    assert list(line.get_ydata())[:2] == [31, 3]
    assert list(opened.get_xdata()) == [0.1]


def test_the_study_of_sources_marks_how_many_tasks_the_full_version_saw():
    one = EXPERIMENTS["sources-furuta"]
    found = results("sources-furuta", training=TRAINING)
    (axes,) = study_figures.sources(one, found).axes
    assert [int(m) for m in axes.lines[0].get_xdata()] == [1, 5, 20, 50, 100, 500]
    assert set(axes.lines[0].get_ydata()) == {3}
    assert any("60 seen at convergence" in label for label in labels(axes))


def test_a_map_says_what_is_not_run():
    one = EXPERIMENTS["generalization"]
    unit = next(one.units("full"))
    edges = [0.0, 0.5, 1.0]
    result = {"translations": edges, "scales": edges, "steps": [[1, 0], [30, 2]]}
    figure = study_figures.heat(one, {(unit.family, unit.label): record(unit, **result)})
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts == ["not run"] * 5


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures_are_written_in_both_forms(tmp_path, suffix):
    found = results("sources-branin", training=TRAINING)
    path = tmp_path / f"picture.{suffix}"
    plot_experiment(EXPERIMENTS["sources-branin"], found, path)
    assert path.stat().st_size > 1000
    assert any(label.endswith(ALL_SOURCES) for _, label in found)
