from typing import get_args

from metabo import choices
from metabo.policies import SEARCHES
from metabo.training import PRESETS


def test_every_choice_stands_for_something():
    assert set(get_args(choices.SearchName)) == set(SEARCHES)
    assert set(get_args(choices.PresetName)) == set(PRESETS)
