import pytest
import torch

from metabo.acquisition import EI, UCB
from metabo.domain import Box, Finite, lattice
from metabo.experiments.trace import replay, trace
from metabo.gp import Prior
from metabo.policies import searcher

TABLE = Finite(lattice(4, 2))


def run(dim, n=3, seed=0):
    """A few random observations in a cube."""
    rng = torch.Generator().manual_seed(seed)
    prior = Prior.of([0.3] * dim, signal_variance=1.0, noise_variance=1e-6)
    x = torch.rand(n, dim, generator=rng, dtype=torch.float64)
    return replay(prior, x, x.sum(-1), budget=10)


def test_a_replayed_run_holds_every_state():
    states = run(2)
    assert [state.n_observed for state in states] == [0, 1, 2, 3]
    assert [int(state.step) for state in states] == [0, 1, 2, 3]
    assert torch.equal(states[2].gp.x[0], states[3].gp.x[0, :2])


def test_any_af_can_be_looked_at_and_ei_itself_ranks_first():
    states = run(2)
    search = searcher("gradient", Box(2))
    best = search.candidates(states[-1], EI())
    x = best.belief.x[0, best.score[0].argmax()]
    after = [*states, states[-1].observe(x[None], torch.zeros(1, dtype=torch.float64))]
    (step,) = trace(UCB(), after, domain=Box(2), search=search, steps=[4])
    assert step.ei_rank == 1
    assert step.score == pytest.approx(step.mean + 2 * step.std)


def test_a_table_is_looked_at_in_its_own_points():
    states = replay(
        run(2)[0].gp.prior, TABLE.points[[5, 9]], torch.tensor([0.0, 1.0]).double(), budget=10
    )
    values = torch.arange(16).double()
    (_, step) = trace(
        EI(),
        states,
        domain=TABLE,
        search=searcher("gradient", TABLE),
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
    states = replay(run(3)[0].gp.prior, table.points[:1], torch.ones(1).double(), budget=10)

    def never(x):
        raise AssertionError("asked for a value that the table does not have")

    (step,) = trace(
        EI(), states, domain=table, search=searcher("gradient", table), steps=[1], truth=never
    )
    assert [view.truth for view in step.views] == [None] * 3
