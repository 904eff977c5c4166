"""The benchmark families against their published facts and against brute force."""

import mpmath
import numpy as np
import pytest
import torch

import metabo
from metabo.domain import sobol
from metabo.errors import DataError, OptionError
from metabo.tasks.synthetic import BRANIN, GOLDSTEIN_PRICE, HARTMANN_3, branin, goldstein_price

SURFACES = {s.name: s for s in (BRANIN, GOLDSTEIN_PRICE, HARTMANN_3)}


def point(*u):
    return torch.tensor(u, dtype=torch.float64)


def test_values_at_published_points():
    assert branin(point(0.0, 0.0)).item() == pytest.approx(-4.9317475896502065, abs=1e-12)
    assert BRANIN.maximum == pytest.approx(1.0505853935122524, abs=1e-12)
    assert GOLDSTEIN_PRICE.maximum == pytest.approx(3.129125550610585, abs=1e-12)
    assert goldstein_price(point(0.066, 1.0)).item() == pytest.approx(-2.117, abs=1e-3)
    corner = HARTMANN_3.function(point(1, 1, 0)).item()
    assert corner == pytest.approx(-0.9789076555945878, abs=1e-12)
    six_digits = HARTMANN_3.function(point(0.114614, 0.555649, 0.852547)).item()
    assert six_digits == pytest.approx(3.087136617841407, abs=1e-12)
    assert HARTMANN_3.maximum - six_digits == pytest.approx(4.0e-10, abs=1e-11)


@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)
def test_standardized_values_have_mean_0_and_deviation_1(surface):
    values = surface.function(sobol(2**16, surface.dim))
    assert values.mean().item() == pytest.approx(0, abs=0.02)
    assert values.std().item() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)
def test_the_maximum_is_where_and_as_high_as_stated(surface):
    at = point(*surface.argmax).requires_grad_()
    value = surface.function(at)
    value.backward()
    assert value.item() == pytest.approx(surface.maximum, abs=1e-12)
    assert at.grad.abs().max() < 1e-6
    # Nowhere in any translated copy of the cube is the function higher.
    wide = 1.4 * sobol(2**17, surface.dim) - 0.2
    assert surface.function(wide).max() <= surface.maximum + 1e-12


def test_hartmanns_maximum_is_a_root_of_its_gradient_in_forty_digits():
    mpmath.mp.dps = 40
    alpha = [mpmath.mpf(v) for v in ("1.0", "1.2", "3.0", "3.2")]
    a = [["3", "10", "30"], ["0.1", "10", "35"], ["3", "10", "30"], ["0.1", "10", "35"]]
    p = [
        ["0.3689", "0.1170", "0.2673"],
        ["0.4699", "0.4387", "0.7470"],
        ["0.1091", "0.8732", "0.5547"],
        ["0.0381", "0.5743", "0.8828"],
    ]

    def terms(x):
        for i in range(4):
            square = sum(mpmath.mpf(a[i][d]) * (x[d] - mpmath.mpf(p[i][d])) ** 2 for d in range(3))
            yield i, alpha[i] * mpmath.exp(-square)

    def gradient(*x):
        return [
            sum(-2 * mpmath.mpf(a[i][d]) * (x[d] - mpmath.mpf(p[i][d])) * v for i, v in terms(x))
            for d in range(3)
        ]

    x = mpmath.findroot(gradient, HARTMANN_3.argmax)
    maximum = (sum(v for _, v in terms(x)) - mpmath.mpf("0.93")) / mpmath.mpf("0.95")
    assert HARTMANN_3.maximum == pytest.approx(float(maximum), abs=1e-14)
    assert HARTMANN_3.argmax == pytest.approx([float(v) for v in x], abs=1e-14)


@pytest.mark.parametrize("name", SURFACES)
def test_a_task_is_the_scaled_function_moved_by_its_translation(name, rng):
    family = metabo.family(name)
    tasks = family.sample(7, rng)
    x = torch.rand(7, 50, family.domain.dim, generator=rng, dtype=torch.float64)
    for e in range(7):
        expected = tasks.scale[e] * SURFACES[name].function(x[e] - tasks.translation[e])
        torch.testing.assert_close(tasks(x)[e], expected, rtol=1e-12, atol=1e-12)
    at_optimum = tasks(tasks.argmax[:, None])[:, 0]
    torch.testing.assert_close(at_optimum, tasks.optimum, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", SURFACES)
def test_tasks_are_drawn_from_the_published_ranges(name, rng):
    tasks = metabo.family(name).sample(4000, rng)
    assert tasks.translation.abs().max() <= 0.1
    assert tasks.translation.mean(0).abs().max() < 0.005
    assert tasks.translation.std(0).mean().item() == pytest.approx(0.2 / 12**0.5, rel=0.03)
    assert 0.9 <= tasks.scale.min() < 0.901 < 1.099 < tasks.scale.max() <= 1.1


def test_sources_are_the_first_sobol_points_of_the_parameter_box():
    tasks = metabo.family("branin").sources(50)
    unit = torch.cat([(tasks.translation + 0.1) / 0.2, (tasks.scale[:, None] - 0.9) / 0.2], -1)
    torch.testing.assert_close(unit, sobol(50, 3), rtol=0, atol=1e-12)
    assert torch.equal(tasks.translation[0], torch.zeros(2, dtype=torch.float64))


def test_a_restricted_family_draws_its_sources_only(rng):
    family = metabo.family("hartmann-3", sources=5)
    drawn = family.sample(200, rng).translation
    allowed = family.sources(5).translation
    hits = (drawn[:, None] == allowed).all(-1)
    assert hits.any(1).all()
    assert hits.sum(0).min() > 20


def test_an_extended_family_draws_magnitudes_with_signs(rng):
    family = metabo.family("goldstein-price", translation=(0.15, 0.2), scale=(1.5, 1.6))
    tasks = family.sample(500, rng)
    magnitude = tasks.translation.abs()
    assert magnitude.min() >= 0.15
    assert magnitude.max() <= 0.2
    assert 0.4 < (tasks.translation > 0).double().mean() < 0.6
    assert tasks.scale.min() >= 1.5
    sign = tasks.translation.sign()
    assert len(sign.unique(dim=0)) == 4


def test_draws_that_would_lose_the_optimum_are_clipped(rng):
    tasks = metabo.family("branin:translation=0.3..0.5").sample(300, rng)
    assert ((tasks.argmax >= 0) & (tasks.argmax <= 1)).all()
    assert (tasks(sobol(2**12, 2).expand(300, -1, -1)).amax(-1) <= tasks.optimum + 1e-12).all()


def test_published_test_functions_are_numpys_draws():
    """The committed task files hold worker seeds 100 to 109, ten functions each."""
    import json
    from pathlib import Path

    folder = Path(__file__).parents[2] / "examples" / "published-tasks"
    for name, surface in SURFACES.items():
        records = json.loads((folder / f"{name}.json").read_text())
        expected = []
        for worker in range(10):
            state = np.random.RandomState(100 + worker)
            for _ in range(10):
                shift = state.uniform(-0.1, 0.1, (1, surface.dim))[0].tolist()
                expected.append({"translation": shift, "scale": state.uniform(0.9, 1.1)})
        assert records == expected


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"translation": [0.1, 0.0]},
            r"`scale` is missing in Task 1. Give each task `translation`, `scale`",
        ),
        (
            {"translation": [0.1], "scale": 1.0},
            r"`translation` in Task 1 must be a list of 2 finite",
        ),
        ({"translation": [0.1, "x"], "scale": 1.0}, "a list of 2 finite numbers"),
        (
            {"translation": [0.1, 0.0], "scale": float("nan")},
            "`scale` in Task 1 must be a finite number",
        ),
        (
            {"translaton": [0.1, 0.0], "scale": 1.0},
            "Task 1 must have no other fields .*`translaton`. Did you mean `translation`",
        ),
        (
            {"translation": [0.9, 0.0], "scale": 1.0},
            r"must be a list of 2 finite numbers in \[-0.1239, 0.8761\] x \[",
        ),
        (
            {"translation": [0.0, 0.0], "scale": -1.0},
            "`scale` in Task 1 must be a finite number in",
        ),
        (
            {"translation": [0.0, 0.0], "scale": 10**400},
            "`scale` in Task 1 must be a finite number",
        ),
    ],
)
def test_task_records_that_do_not_fit_are_named(record, message):
    good = {"translation": [0.0, 0.0], "scale": 1.0}
    with pytest.raises(DataError, match=message):
        metabo.family("branin").read([good, record])


def test_an_empty_task_list_is_refused():
    with pytest.raises(DataError, match="at least one task"):
        metabo.family("branin").read([])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("branin:translation=-0.1..0.1", "range of magnitudes of at least 0"),
        ("branin:translation=nan..1", r"must be a range `low..high` of finite numbers"),
        ("branin:translation=5..6", "must overlap"),
        ("branin:translation=0.2..0.1", "low <= high"),
        ("branin:scale=-2..-1", "`scale` must overlap"),
        ("branin:scale=1e400..2", r"of finite numbers, but got `1e400..2`"),
        ("branin:sources=0", r"`sources` must be a whole number in 1..1000000, but got 0"),
        ("branin:noise=-1", r"`noise` must be a number in 0..1e"),
        ("branin:noise=nan", "`noise` of family `branin` must be a finite number"),
    ],
)
def test_impossible_options_are_refused(name, message):
    with pytest.raises(OptionError, match=message):
        metabo.family(name)
