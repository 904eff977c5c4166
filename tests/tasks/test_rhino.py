import mpmath
import pytest
import torch

import metabo
from metabo.domain import lattice


def exact(name, parameter):
    """The function in forty digits, and a place near its peak."""
    mpmath.mp.dps = 40

    def bump(x, centre, width):
        return mpmath.exp(-((x - centre) ** 2) / (2 * mpmath.mpf(width) ** 2))

    p = mpmath.mpf(parameter)
    if name == "rhino-1":
        return (
            lambda x: (
                bump(x, mpmath.mpf("0.3") + p, "0.1") / 2
                + 3 * bump(x, mpmath.mpf("0.7") + p, "0.01")
            )
        ), mpmath.mpf("0.7") + p
    return (lambda x: p * bump(x, mpmath.mpf("0.2"), "0.1") + 2 * bump(x, p, "0.01") - 1), p


CASES = [("rhino-1", v) for v in (-0.2, 0.0, 0.13)] + [("rhino-2", v) for v in (0.6, 0.75, 0.9)]


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_values_and_optima_are_those_of_the_formula(name, parameter):
    record = {"translation": [parameter]} if name == "rhino-1" else {"height": parameter}
    tasks = metabo.family(name).read([record])
    function, near = exact(name, parameter)
    x = lattice(41, 1)
    ours = tasks(x[None])[0]
    for u, value in zip(x[:, 0].tolist(), ours.tolist(), strict=True):
        assert value == pytest.approx(float(function(mpmath.mpf(u))), abs=1e-13)
    peak = mpmath.findroot(lambda v: mpmath.diff(function, v), (near - 1e-6, near), tol=1e-25)
    assert tasks.argmax.item() == pytest.approx(float(peak), abs=1e-13)
    assert tasks.optimum.item() == pytest.approx(float(function(peak)), abs=1e-13)
    assert ours.max() <= tasks.optimum.item()


def test_the_published_optimum_of_rhino_2_is_short():
    tasks = metabo.family("rhino-2").read([{"height": 0.6}])
    at_height = tasks(torch.tensor([[[0.6]]], dtype=torch.float64)).item()
    assert 1e-10 < tasks.optimum.item() - at_height < 2e-9


def test_ranges_can_be_extended(rng):
    shift = metabo.family("rhino-1", translation=(0.22, 0.3)).sample(200, rng).narrow - 0.7
    assert shift.abs().min() >= 0.22
    assert shift.min() < 0 < shift.max()
    height = metabo.family("rhino-2:height=0.5..0.55").sample(50, rng).narrow
    assert 0.5 <= height.min() < height.max() <= 0.55


def test_the_optimum_stays_in_the_interval_at_its_very_end():
    tasks = metabo.family("rhino-1").read([{"translation": [-0.7]}])
    assert tasks.argmax.item() == 0.0


@pytest.mark.parametrize("name", ["rhino-1", "rhino-2"])
def test_the_peak_is_the_highest_point_of_the_interval(name, rng):
    tasks = metabo.family(name).sample(50, rng)
    dense = lattice(20_001, 1).expand(50, -1, -1)
    gap = tasks.optimum - tasks(dense).amax(-1)
    assert (gap >= 0).all()
    assert gap.max() < 1e-2
