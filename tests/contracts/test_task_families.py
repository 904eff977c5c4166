"""What every registered family must satisfy, a user's own among them."""

import pytest
import torch
from families import APPROXIMATE, NUMBERED, TABLES, params, points

import metabo
from metabo.errors import OptionError
from metabo.seeding import generator
from metabo.tasks import TaskFamily, Tasks, registered
from metabo.training import PRESETS

OWN = "own-bumps"


def bumps(x, p):
    distance = (x - p["place"][:, None, None]).square().sum(-1)
    return p["height"][:, None] * (-10 * distance).exp() + 0.1 * (9 * x).sin().sum(-1)


@pytest.fixture(scope="module", autouse=True)
def own_family():
    """A family made of a function, registered for this suite only."""
    parameters = {"place": (0.2, 0.8), "height": (0.5, 1.5)}
    with registered(metabo.function_family(OWN, bumps, dim=2, parameters=parameters)):
        yield


@pytest.mark.parametrize("name", [*params(), OWN])
def test_it_says_all_a_run_needs(name):
    family = metabo.family(name)
    assert isinstance(family, TaskFamily)
    assert family.name == name
    assert family.prior.dim == family.domain.dim
    assert family.budget >= 1
    assert family.space.dim == family.domain.dim
    assert family.preset in PRESETS
    assert family.regret_floor > 0
    assert family.summary == ("mean" if family.provenance else "median")


@pytest.mark.parametrize("name", [*params(), OWN])
def test_batched_is_a_loop_over_singles(name, rng):
    if name == "furuta-real":
        pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    family = metabo.family(name)
    tasks = family.sample(4, rng)
    assert isinstance(tasks, Tasks)
    x = torch.stack([points(family, 9 + e)[-9:] for e in range(4)])
    together, best = tasks(x), tasks.optimum
    for e in range(4):
        alone = tasks.take(torch.tensor([e]))
        torch.testing.assert_close(together[e : e + 1], alone(x[e : e + 1]), rtol=0, atol=1e-12)
        torch.testing.assert_close(best[e : e + 1], alone.optimum, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [*params(APPROXIMATE), OWN])
def test_no_value_exceeds_the_optimum(name, rng):
    family = metabo.family(name)
    tasks = family.sample(20, rng)
    values = tasks(points(family, 4096).expand(20, -1, -1))
    assert (values.amax(-1) <= tasks.optimum + 1e-10).all()


@pytest.mark.parametrize("name", [*params(NUMBERED), OWN])
def test_the_first_tasks_do_not_depend_on_how_many_are_drawn(name):
    family = metabo.family(name)
    x = points(family, 5).expand(3, -1, -1)
    few, many = (family.sample(n, generator(0, "test tasks")) for n in (3, 30))
    assert torch.equal(few(x), many.take(torch.arange(3))(x))


@pytest.mark.parametrize("name", [*params(NUMBERED, TABLES), OWN])
def test_streams_and_seeds_draw_different_tasks(name):
    family = metabo.family(name)
    streams = [
        (0, "test tasks"),
        (0, "training tasks"),
        (0, "validation tasks"),
        (1, "test tasks"),
    ]
    x = points(family, 3).expand(50, -1, -1)
    rows = torch.cat([family.sample(50, generator(*s))(x) for s in streams])
    assert len(rows.unique(dim=0)) == 200


@pytest.mark.parametrize("name", [*params(NUMBERED), OWN])
def test_source_tasks_are_always_the_same(name):
    family = metabo.family(name)
    x = points(family, 5).expand(8, -1, -1)
    assert torch.equal(family.sources(8)(x), family.sources(20).take(torch.arange(8))(x))
    restricted = metabo.family(name, sources=8)
    assert torch.equal(restricted.sources(8)(x), family.sources(8)(x))


@pytest.mark.parametrize("name", [*params(), OWN])
def test_noise_is_told_to_the_surrogate_model(name):
    plain, noisy = metabo.family(name), metabo.family(name, noise=0.1)
    assert noisy.noise == 0.1
    torch.testing.assert_close(noisy.prior.noise_variance, plain.prior.noise_variance + 0.01)


def test_an_unknown_family_is_named_with_its_neighbour():
    with pytest.raises(OptionError, match=r"Unknown family `brannin`. Did you mean `branin`\?"):
        metabo.family("brannin")
    with pytest.raises(OptionError, match="Unknown option of family `branin` `nois`"):
        metabo.family("branin:nois=1")
