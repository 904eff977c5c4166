import pytest
import torch

import metabo
from metabo.domain import sobol
from metabo.seeding import generator
from metabo.tasks import standard_functions as standard

ORACLES = {
    "six-hump-camel": (standard.six_hump_camel, "SixHumpCamel", {}),
    "rosenbrock-3": (standard.rosenbrock, "Rosenbrock", {"dim": 3}),
    "ackley-4": (standard.ackley, "Ackley", {"dim": 4}),
    "levy-4": (standard.levy, "Levy", {"dim": 4}),
    "hartmann-6": (standard.hartmann_6, "Hartmann", {"dim": 6}),
}


@pytest.mark.parametrize("name", standard.STANDARD)
def test_the_functions_are_botorchs(name):
    functions = pytest.importorskip("botorch.test_functions.synthetic")
    raw, theirs, options = ORACLES[name]
    oracle = getattr(functions, theirs)(**options, dtype=torch.float64)
    u = sobol(500, standard.STANDARD[name].dim)
    low, high = oracle.bounds
    expected = oracle.evaluate_true(low + u * (high - low))
    # Hartmann's constants are stored in single precision there.
    tolerance = 1e-6 if name == "hartmann-6" else 1e-9
    torch.testing.assert_close(raw(u), expected, rtol=tolerance, atol=tolerance)
    if name != "hartmann-6":  # theirs is given to six digits
        assert oracle.optimal_value == pytest.approx(
            float(raw(torch.tensor(standard.STANDARD[name].argmax).double())), abs=1e-4
        )


@pytest.mark.parametrize("surface", standard.STANDARD.values(), ids=lambda s: s.name)
def test_they_have_mean_0_deviation_1_and_the_stated_maximum(surface):
    values = surface.function(sobol(2**14, surface.dim))
    assert float(values.mean()) == pytest.approx(0, abs=0.02)
    assert float(values.std()) == pytest.approx(1, abs=0.02)
    top = torch.tensor(surface.argmax, dtype=torch.float64, requires_grad=True)
    at = surface.function(top)
    assert float(at.detach()) == pytest.approx(surface.maximum, abs=1e-12)
    if surface.name != "ackley-4":  # it has a tip
        (slope,) = torch.autograd.grad(at, top)
        assert slope.abs().amax() < 1e-6


@pytest.mark.parametrize("name", standard.STANDARD)
def test_no_point_of_a_translated_cube_exceeds_the_maximum(name):
    family = metabo.family(name)
    tasks = family.sample(20, generator(0, "test tasks"))
    assert ((tasks.argmax >= 0) & (tasks.argmax <= 1)).all()
    values = tasks(sobol(4096, family.domain.dim).expand(20, -1, -1))
    assert (values <= tasks.optimum[:, None]).all()
