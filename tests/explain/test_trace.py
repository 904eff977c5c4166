import pytest
import torch

import metabo
from metabo.acquisition import EI, UCB
from metabo.domain import Box, Finite, lattice
from metabo.explain.trace import Decision, replay, trace
from metabo.gp import Prior
from metabo.policies import searcher

TABLE = Finite(lattice(4, 2))
CUBE = metabo.Space.cube(2)


def run(dim, n=3, seed=0):
    """A few random observations in a cube."""
    rng = torch.Generator().manual_seed(seed)
    prior = Prior.of([0.3] * dim, signal_variance=1.0, noise_variance=1e-6)
    x = torch.rand(n, dim, generator=rng, dtype=torch.float64)
    return replay(prior, x, x.sum(-1), budget=10)


def test_a_replayed_run_holds_what_was_known_before_each_query():
    decisions = run(2)
    assert [made.state.n_observed for made in decisions] == [0, 1, 2]
    assert [int(made.state.step) for made in decisions] == [0, 1, 2]
    for number, made in enumerate(decisions[:-1]):
        after = decisions[number + 1].state
        assert torch.equal(after.gp.x[0, -1], made.query)
        assert float(after.gp.y[0, -1]) == made.value


def test_any_af_can_be_looked_at_and_ei_itself_ranks_first():
    state = run(2)[-1].state
    search = searcher("gradient", Box(2))
    best = search.candidates(state, EI())
    query = best.belief.x[0, best.score[0].argmax()]
    made = [Decision(state, query, 0.0, 0.0)]
    (step,) = trace(UCB(), made, domain=Box(2), search=search, space=CUBE, steps=[1])
    assert step.ei_rank == 1
    assert step.score == pytest.approx(step.mean + 2 * step.std)


def test_whole_numbers_are_looked_at_as_they_would_be_evaluated():
    space = metabo.Space({"n": metabo.Int(0, 3)})
    (step,) = trace(
        EI(),
        run(1, n=1),
        domain=Box(1),
        search=searcher("gradient", Box(1)),
        steps=[1],
        space=space,
    )
    assert len(step.views[0].x.unique()) == 4


def test_slices_keep_to_a_choice():
    space = metabo.Space({"kind": metabo.Choice(("a", "b")), "x": metabo.Float(0, 1)})
    (step,) = trace(
        EI(),
        run(3, n=1),
        domain=Box(3),
        search=searcher("gradient", Box(3)),
        steps=[1],
        space=space,
    )
    assert [view.axis for view in step.views] == [2]
    assert len(step.views[0].x[:, :2].unique(dim=0)) == 1


def test_a_table_is_looked_at_in_its_own_points():
    states = replay(
        run(2)[0].state.gp.prior,
        TABLE.points[[5, 9]],
        torch.tensor([0.0, 1.0]).double(),
        budget=10,
    )
    values = torch.arange(16).double()
    (_, step) = trace(
        EI(),
        states,
        domain=TABLE,
        search=searcher("gradient", TABLE),
        space=CUBE,
        steps=[1, 2],
        truth=lambda x: values,
    )
    (view,) = step.views
    assert torch.equal(view.x, TABLE.points)
    assert view.per_side is None
    assert torch.equal(view.truth, values)
    assert step.ei_candidates == 16


def test_slices_of_a_table_do_not_know_the_truth():
    table = Finite(lattice(3, 3))
    states = replay(run(3)[0].state.gp.prior, table.points[:1], torch.ones(1).double(), budget=10)

    def never(x):
        raise AssertionError("asked for a value that the table does not have")

    (step,) = trace(
        EI(),
        states,
        domain=table,
        search=searcher("gradient", table),
        space=metabo.Space.cube(3),
        steps=[1],
        truth=never,
    )
    assert [view.truth for view in step.views] == [None] * 3
