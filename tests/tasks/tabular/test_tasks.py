import torch

from metabo.tasks.tabular import TabularTasks, varied

POINTS = torch.linspace(0, 1, 5, dtype=torch.float64)[:, None]


def sources(rng, n=4):
    return TabularTasks(POINTS, torch.rand(n, 5, generator=rng, dtype=torch.float64))


def draws(n, rng):
    return torch.rand(n, 7, generator=rng, dtype=torch.float64)


def test_without_blending_and_bending_tasks_are_sources(rng):
    known = sources(rng)
    drawn = varied(known, draws(50, rng), blend=0, bend=0)
    assert all((known.values == row).all(-1).any() for row in drawn.values)


def test_blends_lie_between_two_sources(rng):
    known = sources(rng, n=2)
    drawn = varied(known, draws(50, rng), blend=1, bend=0).values
    low, high = known.values.amin(0), known.values.amax(0)
    assert bool(((drawn >= low - 1e-12) & (drawn <= high + 1e-12)).all())
    assert len(drawn.unique(dim=0)) > 20


def test_bending_keeps_the_level_and_the_optimum_is_that_of_the_bent_task(rng):
    known = sources(rng)
    drawn = varied(known, draws(50, rng), blend=0, bend=1)
    levels = known.values.mean(-1)
    assert all((levels - row.mean()).abs().min() < 1e-12 for row in drawn.values)
    assert torch.equal(drawn.optimum, drawn.values.amax(-1))


def test_a_task_depends_on_its_own_draws_alone(rng):
    known, numbers = sources(rng), draws(9, rng)
    many = varied(known, numbers, blend=0.5, bend=0.5)
    few = varied(known, numbers[:3], blend=0.5, bend=0.5)
    assert torch.equal(many.values[:3], few.values)
