import math
from dataclasses import replace

import pytest
import torch

import metabo
from metabo.errors import DataError, DomainError, OptionError, ShapeError
from metabo.explain.on_tasks import explain
from metabo.explain.trace import replay
from metabo.loop import rollout
from metabo.policies import Maximize, searcher
from metabo.pretrained import load, save
from metabo.seeding import Noise, generator
from metabo.training.presets import PLAIN_FEATURES

pytestmark = pytest.mark.slow  # whole runs, which need no checks of shapes

BUDGET = 5


@pytest.fixture(scope="module", params=["rhino-1", "branin", "hartmann-3"])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def artifact(name, tmp_path_factory):
    """A network that has learned nothing and sees the plain view only."""
    path = tmp_path_factory.mktemp("plain") / "a.safetensors"
    shape = metabo.acquisition.Architecture(
        metabo.family(name).domain.dim, PLAIN_FEATURES, (16,), init="orthogonal", residual="log_ei"
    )
    af = metabo.acquisition.NeuralAF(shape, torch.Generator().manual_seed(0))
    save(af, {k: v for k, v in load(name).card.items() if k != "architecture"}, path)
    return path


@pytest.fixture(scope="module")
def explanation(artifact):
    return explain(artifact, tasks=2, budget=BUDGET)


@pytest.fixture(scope="module")
def episodes(name, artifact):
    """What `rollout` does on the same tasks."""
    family = metabo.family(name)
    policy = Maximize(load(artifact), searcher("gradient", family.domain))
    tasks = family.sample(2, generator(0, "test tasks"))
    return tasks, rollout(policy, tasks, family, seed=0, budget=BUDGET)


def steps_and_states(episode, family):
    """The steps of an episode, each with the state that its queries and values lead to."""
    x = torch.stack([step.query for step in episode.steps])
    y = torch.tensor([step.value for step in episode.steps], dtype=torch.float64)
    return episode.steps, [one.state for one in replay(family.prior, x, y, budget=BUDGET)]


def test_the_steps_are_those_of_the_rollout(explanation, episodes):
    _, done = episodes
    for e, episode in enumerate(explanation.episodes):
        assert [step.number for step in episode.steps] == [1, 2, 3, 4, 5]
        for t, step in enumerate(episode.steps):
            assert step.budget == BUDGET
            assert torch.equal(step.query, done.queries[e, t])
            assert step.value == float(done.observed[e, t])
            assert torch.equal(step.seen_x, done.queries[e, :t])
            assert torch.equal(step.seen_y, done.observed[e, :t])


def test_the_policy_asked_again_in_a_replayed_state_gives_the_query(name, artifact, explanation):
    family = metabo.family(name)
    policy = Maximize(load(artifact), searcher("gradient", family.domain))
    for step, state in zip(*steps_and_states(explanation.episodes[0], family), strict=True):
        noise = Noise.at(0, episodes=torch.tensor([0]), step=step.number - 1).stream("policy")
        torch.testing.assert_close(policy.propose(state, noise).x[0], step.query)


def test_the_truth_is_the_task(explanation, episodes):
    tasks, _ = episodes
    for e, episode in enumerate(explanation.episodes):
        for view in episode.steps[0].views:
            one = tasks.take(torch.tensor([e]))
            assert torch.equal(view.truth, one(view.x[None])[0])


def test_beliefs_and_scores_are_those_of_the_state(name, artifact, explanation):
    family, af = metabo.family(name), load(artifact)
    for step, state in zip(*steps_and_states(explanation.episodes[1], family), strict=True):
        for view in step.views:
            belief = state.belief(view.x[None])
            torch.testing.assert_close(view.mean, belief.mean[0])
            torch.testing.assert_close(view.std, belief.std[0])
            torch.testing.assert_close(view.score, af(belief)[0])
        at = state.belief(step.query[None, None])
        assert step.score == pytest.approx(float(af(at)), rel=1e-9)
        assert (step.mean, step.std) == pytest.approx((float(at.mean), float(at.std)))


def test_ei_is_its_closed_form(explanation):
    def expected(mean, std, best):
        normal = torch.distributions.Normal(0.0, 1.0)
        z = (mean - best) / std
        return std * (normal.log_prob(z).exp() + z * normal.cdf(z))

    step = explanation.episodes[0].steps[2]
    for view in step.views:
        ei = expected(view.mean, view.std, step.seen_y.max())
        torch.testing.assert_close(view.log_ei.exp(), ei, rtol=1e-6, atol=1e-12)
    plane = next(p for p in explanation.planes if p.number == 3)
    ei = expected(plane.mean[None, :], plane.std[:, None], plane.best)
    torch.testing.assert_close(plane.log_ei.exp(), ei, rtol=1e-6, atol=1e-12)
    assert plane.best == float(step.seen_y.max())


def test_at_the_first_step_ei_has_no_preference(explanation):
    step = explanation.episodes[0].steps[0]
    assert step.ei_rank == 1
    for view in step.views:
        assert float(view.log_ei.max() - view.log_ei.min()) < 1e-12


def test_the_rank_counts_the_points_that_ei_would_rather_have(name, explanation):
    family = metabo.family(name)
    steps, states = steps_and_states(explanation.episodes[0], family)
    step, state = steps[-1], states[-1]
    found = searcher("gradient", family.domain).candidates(state, metabo.acquisition.LogEI())
    better = [score for score in found.score[0].tolist() if score > step.log_ei + 1e-9]
    assert step.ei_rank == 1 + len(better)
    assert step.ei_candidates == len(found.score[0])


def test_a_plane_changes_the_mean_and_the_deviation_of_a_belief_and_nothing_else(
    name, artifact, explanation
):
    family, af = metabo.family(name), load(artifact)
    state = steps_and_states(explanation.episodes[0], family)[1][-1]
    plane = explanation.planes[-1]
    assert plane.number == BUDGET
    real = state.belief(plane.at[None, None])
    for row, column in ((0, 0), (0, 60), (30, 20), (60, 60)):
        mean, std = plane.mean[column].view(1, 1), plane.std[row].view(1, 1)
        torch.testing.assert_close(
            plane.score[row, column], af(replace(real, mean=mean, std=std))[0, 0]
        )


def test_the_planes_share_their_axes_and_hold_the_queries(explanation):
    first, *others = explanation.planes
    for plane in others:
        assert torch.equal(plane.mean, first.mean)
        assert torch.equal(plane.std, first.std)
    for plane in explanation.planes:
        mean, std = plane.query
        assert float(plane.mean[0]) < mean < float(plane.mean[-1])
        assert std <= float(plane.std[-1]) * (1 + 1e-9)


def test_slices_pass_through_the_incumbent_and_through_the_query_before_there_is_one():
    episode = explain("hartmann-3", tasks=1, budget=3).episodes[0]
    for step in episode.steps:
        through = step.seen_x[step.seen_y.argmax()] if step.number > 1 else step.query
        assert [view.axis for view in step.views] == [0, 1, 2]
        for view in step.views:
            others = [k for k in range(3) if k != view.axis]
            assert torch.equal(view.x[:, others], through[others].expand(len(view.x), 2))
            assert view.x[:, view.axis].tolist() == pytest.approx(
                torch.linspace(0, 1, len(view.x)).tolist(), abs=1e-6
            )


def test_an_af_that_does_not_look_at_places_has_one_row_of_planes(tmp_path):
    af = load("branin")
    shape = metabo.acquisition.Architecture(2, ("mean", "std", "progress"), (8,))
    blind = metabo.acquisition.NeuralAF(shape, torch.Generator().manual_seed(0))
    save(
        blind,
        {k: v for k, v in af.card.items() if k != "architecture"},
        tmp_path / "a.safetensors",
    )
    explanation = explain(tmp_path / "a.safetensors", tasks=1, budget=3)
    assert [plane.number for plane in explanation.planes] == [1, 2, 3]
    assert all(plane.at is None for plane in explanation.planes)


def test_places_and_steps_can_be_chosen():
    explanation = explain("branin", tasks=1, budget=9, steps=[7, 2, 7], at=[(0.1, 0.2)])
    assert [step.number for step in explanation.episodes[0].steps] == [2, 7]
    assert [(p.number, p.at.tolist()) for p in explanation.planes] == [
        (2, [0.1, 0.2]),
        (7, [0.1, 0.2]),
    ]


@pytest.mark.slow
def test_by_default_the_first_four_and_the_last_step_are_shown():
    (episode,) = explain("rhino-1", tasks=1, budget=3).episodes
    assert [step.number for step in episode.steps] == [1, 2, 3]
    (episode,) = explain("rhino-1", tasks=1).episodes
    assert [step.number for step in episode.steps] == [1, 2, 3, 4, 10]
    assert episode.steps[0].budget == 10  # what it was trained for


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"artifact": "branim"}, OptionError, r"Unknown artifact `branim`. Did you mean `branin`"),
        ({"family": "hartmann-3"}, ShapeError, r"2 dimensions, but family `hartmann-3` has 3"),
        ({"family": "branim"}, OptionError, r"Unknown family `branim`"),
        ({"steps": [0]}, OptionError, r"`steps` must be whole numbers in 1..30 .* got \[0\]"),
        ({"steps": [31]}, OptionError, r"in 1..30"),
        ({"steps": []}, OptionError, r"at least one, but got \[\]"),
        ({"tasks": 0}, OptionError, r"`tasks` must be a whole number in 1..20, but got 0"),
        ({"tasks": 21}, OptionError, r"`tasks` must be a whole number in 1..20, but got 21"),
        ({"budget": 0}, OptionError, r"`budget` must be a whole number in 1..10000, but got 0"),
        ({"at": [(0.5,)]}, ShapeError, r"must end in an axis of size 2"),
        ({"at": [(0.5, 1.5)]}, DomainError, r"must lie in the unit cube .* \[0.5, 1.5\]"),
        ({"search": "gird"}, OptionError, r"Unknown search `gird`. Did you mean `grid`"),
        ({"task_file": "no.json"}, DataError, r"The task file `no.json` cannot be read"),
    ],
)
def test_mistakes_are_one_sentence(options, error, message, unchecked):
    with pytest.raises(error, match=message):
        explain(options.pop("artifact", "branin"), **options)


def test_an_artifact_of_no_family_needs_one(tmp_path):
    save(load("branin"), {}, tmp_path / "a.safetensors")
    with pytest.raises(OptionError, match=r"names no family of tasks .* Pass `--family`"):
        explain(tmp_path / "a.safetensors")
    explanation = explain(tmp_path / "a.safetensors", family="branin", tasks=1, budget=2)
    assert math.isfinite(explanation.episodes[0].steps[0].score)
