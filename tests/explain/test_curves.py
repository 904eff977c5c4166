from dataclasses import replace

import numpy as np
import pytest

from metabo.explain.curves import pictures
from metabo.explain.maps import ranks
from metabo.explain.on_tasks import explain

PNG = b"\x89PNG"


def without_truth(explanation):
    """The same, as of a run whose objective nobody knows."""
    return replace(
        explanation,
        episodes=tuple(
            replace(
                one,
                steps=tuple(
                    replace(step, views=tuple(replace(v, truth=None) for v in step.views))
                    for step in one.steps
                ),
            )
            for one in explanation.episodes
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("rhino-1", ["plane.png", "strategy.png"]),
        ("branin", ["plane.png", "episode-1.png", "episode-2.png"]),
        ("hartmann-3", ["plane.png", "episode-1.png", "episode-2.png"]),
    ],
)
def test_each_dimension_has_its_pictures(name, files, tmp_path):
    explanation = explain(name, tasks=2, budget=2, steps=[2])
    drawn = pictures(explanation)
    assert list(drawn) == files
    # With the truth and, as of a run in a journal, without.
    del drawn["plane.png"]
    drawn["without.png"] = pictures(without_truth(explanation))[files[1]]
    for file, draw in drawn.items():
        draw(tmp_path / file)
        assert (tmp_path / file).read_bytes().startswith(PNG)


def test_the_plane_is_drawn(tmp_path):
    pictures(explain("rhino-1", tasks=1, budget=2, steps=[2]))["plane.png"](tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_a_table_is_drawn_as_dots(tmp_path):
    explanation = explain("branin", tasks=1, budget=2, steps=[2])
    (episode,) = explanation.episodes
    (step,) = episode.steps
    dots = replace(step, views=(replace(step.views[0], per_side=None),))
    draw = pictures(replace(explanation, episodes=(replace(episode, steps=(dots,)),)))
    draw["episode-1.png"](tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_many_steps_and_episodes_go_into_further_pictures():
    explanation = explain("rhino-1", tasks=1, budget=7, steps=range(1, 8))
    assert list(pictures(replace(explanation, episodes=explanation.episodes * 4))) == [
        "plane.png",
        "strategy.png",
        "strategy-page-2.png",
        "strategy-page-3.png",
        "strategy-page-4.png",
    ]
    assert [plane.number for plane in explanation.planes[:6]] == [1, 2, 3, 5, 6, 7]


def test_ranks_depend_on_the_order_alone():
    scores = np.random.default_rng(0).normal(size=(7, 5))
    assert np.array_equal(ranks(scores), ranks(np.exp(3 * scores)))
    assert ranks(scores).min() == 0
    assert ranks(scores).max() == 1
    # Two of three are equal: half of each other's share.
    assert ranks(np.array([1.0, 2.0, 2.0])).tolist() == [0, 0.75, 0.75]
    assert ranks(np.full(4, 3.0)).tolist() == [0.5] * 4
