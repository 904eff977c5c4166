import os
from dataclasses import replace

import pytest
import torch

import metabo
from metabo.domain import sobol
from metabo.errors import OptionError
from metabo.seeding import generator
from metabo.sources import source_data


def test_all_sources_are_seen_at_the_first_sobol_points(tmp_path):
    family = metabo.family("hartmann-3")
    data = source_data(family, 5, 7, cache=tmp_path)
    assert torch.equal(data.x, sobol(7, 3))
    assert torch.equal(data.y, family.sources(5)(data.x.expand(5, -1, -1)))
    assert data.models.inverse.shape == (1, 7, 7)


def test_noisy_families_have_noisy_sources(tmp_path):
    plain, noisy = (
        source_data(metabo.family("branin", noise=n), 20, 30, cache=tmp_path) for n in (0, 0.1)
    )
    assert (noisy.y - plain.y).std().item() == pytest.approx(0.1, rel=0.1)


def test_fitted_hyperparameters_are_each_sources_own(tmp_path):
    data = source_data(metabo.family("rhino-1"), 3, 12, hyperparameters="fitted", cache=tmp_path)
    assert data.prior.lengthscale.shape == (3, 1)
    assert data.models.inverse.shape == (3, 12, 12)


def test_a_second_call_reads_the_file(tmp_path, monkeypatch):
    family = metabo.family("branin")
    first = source_data(family, 4, 6, hyperparameters="fitted", cache=tmp_path)
    monkeypatch.setattr("metabo.sources.data.fit", None)  # calling it would fail
    second = source_data(family, 4, 6, hyperparameters="fitted", cache=tmp_path)
    assert torch.equal(first.y, second.y)
    assert torch.equal(first.prior.lengthscale, second.prior.lengthscale)
    assert len(list(tmp_path.iterdir())) == 1


def _bowls(steepness):
    def bowl(x, p):
        return p["height"][:, None] - steepness * (x - 0.5).square().sum(-1)

    prior = metabo.family("branin").prior
    options = {"dim": 2, "parameters": {"height": (0, 1)}, "prior": prior}
    return metabo.function_family("bowls", bowl, **options)


def test_everything_it_depends_on_makes_another_file(tmp_path):
    other = replace(metabo.family("branin"), make=metabo.family("goldstein-price").make)
    bowls = [_bowls(steepness) for steepness in (1, 50)]  # they agree at the centre
    cases = [
        *((bowl, 4, 6, "target") for bowl in bowls),
        (metabo.family("branin"), 4, 6, "target"),
        (metabo.family("branin"), 5, 6, "target"),
        (metabo.family("branin"), 4, 7, "target"),
        (metabo.family("branin"), 4, 6, "fitted"),
        (metabo.family("branin", noise=0.1), 4, 6, "target"),
        (metabo.family("branin", scale=(0.8, 1.2)), 4, 6, "target"),
        (other, 4, 6, "target"),
    ]
    for family, m, n, hyperparameters in cases:
        source_data(family, m, n, hyperparameters=hyperparameters, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == len(cases)


@pytest.mark.parametrize("damage", ["cut", "empty", "foreign"])
def test_a_broken_file_is_made_anew(damage, tmp_path):
    family = metabo.family("branin")
    first = source_data(family, 4, 6, cache=tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[:-9], "empty": b"", "foreign": b"{}" * 99}[damage])
    assert torch.equal(source_data(family, 4, 6, cache=tmp_path).y, first.y)
    assert path.read_bytes() == whole


def test_a_file_with_one_bit_changed_is_made_anew(tmp_path):
    family = metabo.family("branin")
    first = source_data(family, 4, 6, cache=tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for at in range(len(whole) - 1, 7, -13):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        again = source_data(family, 4, 6, cache=tmp_path)
        assert torch.equal(again.y, first.y)
        assert torch.equal(again.prior.lengthscale, first.prior.lengthscale)
        assert path.read_bytes() == whole


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    family = metabo.family("branin")
    first = source_data(family, 4, 6, cache=tmp_path)
    (path,) = tmp_path.iterdir()
    path.unlink()
    os.mkfifo(path)
    assert torch.equal(source_data(family, 4, 6, cache=tmp_path).y, first.y)
    assert path.is_file()


def test_a_user_without_a_home_is_served(monkeypatch, tmp_path):
    for name in ("METABO_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("metabo.sources.data.Path.home", _no_home)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source_data(metabo.family("branin"), 2, 3)
    assert len(list((tmp_path / "metabo").iterdir())) == 1


def _no_home():
    raise RuntimeError("no home")


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert source_data(metabo.family("branin"), 4, 6, cache=blocked).y.shape == (4, 6)


def test_the_environment_moves_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("METABO_CACHE", str(tmp_path / "here"))
    source_data(metabo.family("branin"), 2, 3)
    assert len(list((tmp_path / "here").iterdir())) == 1


def test_points_of_a_finite_domain_are_taken_at_even_distances(tmp_path):
    family = metabo.family("svm")
    points, n = family.domain.points, len(family.domain.points)
    assert torch.equal(source_data(family, 2, cache=tmp_path).x, points)
    assert torch.equal(
        source_data(family, 2, 3, cache=tmp_path).x, points[[0, n // 3, 2 * n // 3]]
    )
    with pytest.raises(OptionError, match=rf"`N`, .* must be a whole number in 1..{n}, but is"):
        source_data(family, 2, n + 1, cache=tmp_path)


def test_predicted_best_designs_are_at_least_as_good_as_the_data_says(tmp_path):
    family = metabo.family("hartmann-3")
    data = source_data(family, 10, 100, cache=tmp_path)
    predicted, observed = data.predicted_best(), data.best
    own = range(10)
    means = data.models.mean(torch.cat([predicted, observed]))
    assert (means[own, own] >= means[own, [e + 10 for e in own]] - 1e-9).all()
    tasks = family.sources(10)
    regret = tasks.optimum - tasks(predicted[:, None])[:, 0]
    assert regret.median() < 0.3 * (tasks.optimum - data.y.amax(-1)).median()


@pytest.mark.parametrize(
    ("m", "n", "message"),
    [
        (
            0,
            5,
            r"`M`, the number of source tasks of family `branin`, must be .* in 1..8, but is 0",
        ),
        (9, 5, r"`M`, .* in 1..8, but is 9"),
        (
            3,
            0,
            r"`N`, the number of points per source task of family `branin`, must .*, but is 0",
        ),
        (3, 5001, r"`N`, .* in 1..5000, but is 5001"),
    ],
)
def test_more_than_the_family_has_is_refused(m, n, message, tmp_path):
    with pytest.raises(OptionError, match=message):
        source_data(metabo.family("branin:sources=8"), m, n, cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_family_without_sources_is_named(tmp_path):
    family = replace(metabo.family("branin"), n_sources=0)
    with pytest.raises(OptionError, match="needs source tasks, but family `branin` has none"):
        source_data(family, 3, 5, cache=tmp_path)


def test_no_source_is_a_test_task(tmp_path):
    family = metabo.family("branin")
    x = sobol(3, 2).expand(50, -1, -1)
    rows = torch.cat([family.sources(50)(x), family.sample(50, generator(0, "test tasks"))(x)])
    assert len(rows.unique(dim=0)) == 100
