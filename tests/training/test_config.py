import pytest
import torch

import metabo
from metabo.acquisition import LogEI, NeuralAF, OnLearned
from metabo.domain import lattice
from metabo.errors import OptionError
from metabo.sources import learned_prior
from metabo.state import BOState
from metabo.tasks import family
from metabo.training import TrainConfig, preset, read_settings
from metabo.training.rollouts import training_searches


def test_the_paper_preset_is_the_papers_table():
    config = preset("paper", "branin")
    assert config == TrainConfig("branin")
    assert config.features == ("mean", "std", "x", "step", "budget")
    assert config.hidden == (200, 200, 200, 200)
    assert config.activation == "relu"
    assert config.episodes * 30 == 1200  # batch size
    assert config.epochs == 4
    assert config.minibatches == 20
    assert config.learning_rate == config.final_learning_rate == 1e-4
    assert config.clip == 0.15
    assert config.value_coefficient == 1.0
    assert config.entropy_coefficient == 0.01
    assert config.gamma == 0.98
    assert config.gae_lambda == 0.98
    assert config.max_gradient_norm is None
    for name, size in (("rhino-1", 500), ("branin", 1000), ("hartmann-3", 2000)):
        (search,) = training_searches(config, metabo.family(name))
        assert (search.n_global, search.n_local, search.k) == (size, size, 5)
        assert search.grid == "lattice"


@pytest.mark.parametrize("name", ["default", "fast"])
def test_our_presets_start_from_log_ei_of_the_learned_belief(name):
    family = metabo.family("branin")
    af = NeuralAF(preset(name, "branin").architecture(2), torch.Generator().manual_seed(0))
    state = BOState.start(learned_prior(family, 10, 60), episodes=2, budget=30)
    tasks = family.sample(2, torch.Generator().manual_seed(0))
    for x in torch.rand(4, 2, 2, generator=torch.Generator().manual_seed(1)).double():
        state = state.observe(x, tasks(x[:, None])[:, 0])
    belief = state.belief(lattice(31, 2).expand(2, -1, -1))
    best = OnLearned(LogEI())(belief).argsort(-1, descending=True)[:, :3]
    assert (af(belief).argmax(-1)[:, None] == best).any(-1).all()


def test_a_configuration_survives_being_stored():
    config = preset("default", "branin", seed=3)
    assert config.first_difference(config.record()) is None
    other = preset("default", "branin", seed=3, clip=0.2).record()
    assert config.first_difference(other) == "`clip` was 0.2, now 0.15"


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("papr", {}, r"Unknown preset `papr`. Did you mean `paper`"),
        ("paper", {"epoch": 3}, r"Unknown training option `epoch`. Did you mean `epochs`"),
        ("paper", {"candidates": ("fin",)}, r"Unknown candidate set `fin`. Did you mean `fine`"),
        ("paper", {"candidates": ()}, "`candidates` must name at least one"),
        ("paper", {"reward": "foo"}, "`reward` must be one of `log`, `linear`, but got `foo`"),
        ("paper", {"iterations": 2.5}, "`iterations` must be a whole number of at most 18 digits"),
        ("paper", {"gamma": 7.0}, r"`gamma` must be a number in 0..1, but got 7"),
        ("paper", {"n_global": -3}, "`n_global` must be a whole number in 1..1000000"),
        ("paper", {"clip": -1.0}, "`clip` must be a positive number, but got -1"),
        ("paper", {"entropy_coefficient": float("nan")}, "must be a finite number"),
        ("paper", {"learning_rate": float("inf")}, "`learning_rate` must be a finite number"),
        ("paper", {"budget": 2.5}, "`budget` must be a whole number .*, but got `2.5`"),
        ("paper", {"hidden": 64}, "`hidden` must be whole numbers .* separated by commas"),
        ("paper", {"normalize": "no"}, "`normalize` must be `true` or `false`, but got `no`"),
        ("paper", {"episodes": 0}, "`episodes` must be a whole number in 1..1000000, but got 0"),
    ],
)
def test_impossible_settings_are_refused(unchecked, name, changes, message):
    with pytest.raises(OptionError, match=message):
        preset(name, "branin", **changes)


def test_budgets_come_in_steps_down_from_the_largest():
    config = preset("general", "gp-matern52")
    assert list(config.budgets(60)) == [20, 40, 60]
    assert list(preset("general", "gp-matern52", budget=50).budgets(60)) == [30, 50]


def test_families_have_a_usual_preset():
    assert family("gp-rbf:dim=2").preset == "general"
    assert family("svm").preset == "table"
    assert family("branin").preset == "default"


def test_the_general_preset_serves_any_dimension():
    assert preset("general", "gp-rbf").architecture(3).is_for_any_dimension


def test_sources_are_not_part_of_the_familys_name():
    with pytest.raises(OptionError, match=r"as `--sources M`, not in `branin:sources=3`"):
        preset("paper", "branin:sources=3")


def test_settings_are_read_by_the_types_of_the_fields():
    texts = ["budget=10", "reward=linear", "hidden=64,32", "features=mean,std", "normalize=true"]
    more = ["patience=3", "learning_rate=1e-3", "max_gradient_norm=none"]
    assert read_settings([*texts, *more]) == {
        "budget": 10,
        "reward": "linear",
        "hidden": (64, 32),
        "features": ("mean", "std"),
        "normalize": True,
        "patience": 3,
        "learning_rate": 1e-3,
        "max_gradient_norm": None,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget", r"Settings are written `name=value`, but got `budget`"),
        ("budgt=3", r"Unknown setting `budgt`. Did you mean `budget`"),
        ("budget=many", r"Setting `budget` must be a whole number .*, but got `many`"),
        ("hidden=64,x", r"Setting `hidden` must be whole numbers .* separated by commas"),
        ("normalize=maybe", r"Setting `normalize` must be `true` or `false`, but got `maybe`"),
        ("reward=sum", r"Setting `reward` must be one of `log`, `linear`, but got `sum`"),
    ],
)
def test_settings_that_cannot_be_read_are_named(text, message):
    with pytest.raises(OptionError, match=message):
        read_settings([text])
