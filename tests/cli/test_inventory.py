from metabo.cli.inventory import UNSET, options, written
from metabo.evaluation.methods import METHODS
from metabo.options import declared_options
from metabo.tasks import FAMILIES
from metabo.training import PRESETS, read_settings


def test_every_default_is_shown_as_what_it_means():
    for builder in (*METHODS.values(), *FAMILIES.values()):
        for name, option in declared_options(builder).items():
            assert option.default is not None or name in UNSET
        assert "None" not in options(builder)
    assert options(METHODS["taf-me"]) == "M=50 N=100 hyperparameters=target"


def test_presets_are_shown_as_set_takes_them():
    for settings in PRESETS.values():
        texts = [f"{name}={written(value)}" for name, value in settings.items()]
        assert read_settings(texts) == settings
